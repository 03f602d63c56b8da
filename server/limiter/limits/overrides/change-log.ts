/**
 * The log of what operators have changed: rows in the table of overrides, under names that no limit has. So
 * the log needs no table of its own, is known to all processes as the overrides are, and is deleted with
 * the key by `forget` and by `prune` when it is old.
 */
import { DAY } from "../../../../core/durations.js";
import type { Row } from "../../../../core/rows/row.js";
import { MAX_RULE, type OverrideRow } from "../../../store/override-table.js";
import type { OperatorAction } from "../../types/limiter-options.js";
import { CHANGE_PREFIX, isChange } from "./override-row.js";
import type { OverrideAccess } from "./override-operations.js";

/** How long a change is kept, ms. */
const KEPT_FOR = 90 * DAY;
/** The most changes that are kept. */
export const MOST_CHANGES = 1000;

/** A row of the table of overrides, as a change has found or left it. */
export type RowState = readonly [rowName: string, rule: string, until: number, setAt: number];

/** What an operator has done. */
export interface LoggedChange {
  id: string;
  /** Epoch ms. */
  at: number;
  action: OperatorAction;
  name: string;
  /** The stored key; `undefined` for all keys, and for the shared bucket. */
  key: string | undefined;
  by?: string | undefined;
  why?: string | undefined;
  /** The overrides that the action has replaced or ended. Absent where they were too long to keep. */
  before?: readonly RowState[] | undefined;
  /** The overrides that the action has set. */
  after?: readonly RowState[] | undefined;
  /** The rows of the bucket that a reset has deleted. Absent where they were too long to keep. */
  rows?: readonly (Row & { shard: number })[] | undefined;
  /** The id of the change that this one has undone. */
  undoes?: string | undefined;
}

/** The part of the row that is JSON. */
type Noted = Omit<LoggedChange, "id" | "at" | "key" | "rows"> & {
  rows?: (readonly [shard: number, used: number, ts: number])[];
};

export interface ChangeLogOptions {
  access: Pick<OverrideAccess, "change">;
  clock(): number;
  /** All rows that the process knows, after a look at the table. */
  rows(): Promise<Iterable<OverrideRow>>;
}

export class ChangeLog {
  readonly #options: ChangeLogOptions;
  #added = 0;
  /** The `setAt` of the newest change that is known. */
  #newest = -Infinity;

  constructor(options: ChangeLogOptions) {
    this.#options = options;
  }

  /** All changes that are kept, the newest first. */
  async read(): Promise<LoggedChange[]> {
    const found: LoggedChange[] = [];
    for (const row of await this.#options.rows()) {
      const change = changeOf(row);
      if (change !== undefined) found.push(change);
    }
    return found.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
  }

  /** Writes a change down, as the newest one of all processes. Resolves with its id. */
  async add(change: Omit<LoggedChange, "id" | "at">): Promise<string> {
    const all = await this.read();
    this.#newest = Math.max(this.#newest, all[0]?.at ?? -Infinity);
    const now = this.#options.clock();
    // In order where the clock stands still, and not that of another process.
    const count = (this.#added++).toString(36).padStart(4, "0");
    const id = `${now.toString(36)}-${count}-${Math.random().toString(36).slice(2, 8)}`;
    await this.put(id, change);
    // The change is written down. Where this fails, the next change deletes the oldest ones.
    await this.#dropAll(all.slice(MOST_CHANGES - 1)).catch(() => {});
    return id;
  }

  /** Writes a change anew, in place of the one with this id. */
  async put(id: string, change: Omit<LoggedChange, "id" | "at">): Promise<void> {
    const now = this.#options.clock();
    const named = { name: CHANGE_PREFIX + id, key: change.key ?? "", rule: textOf(change) };
    const row = { ...named, until: Math.ceil(now + KEPT_FOR), setAt: now };
    // Each change has an instant of its own, so that a page can begin before it.
    await this.#options.access.change({ id: row, row, after: this.#newest });
    this.#newest = Math.max(this.#newest, row.setAt);
  }

  /** Deletes a change that has not been done after all. */
  async drop(id: string, key: string | undefined): Promise<void> {
    const row = { name: CHANGE_PREFIX + id, key: key ?? "" };
    await this.#options.access.change({ id: row, row: undefined });
  }

  /** Two processes may delete the same ones. */
  async #dropAll(changes: readonly LoggedChange[]): Promise<void> {
    for (const { id, key } of changes) await this.drop(id, key);
  }
}

/** The JSON of a change, without what may be left out where the whole is too long. */
function textOf({ rows, before, why, ...given }: Omit<LoggedChange, "id" | "at">): string {
  // The row has the key.
  const change = { ...given, key: undefined };
  const stored = rows?.map(({ shard, used, ts }) => [shard, used, ts]);
  for (const part of [{ why, before, rows: stored }, { why }, { why: why?.slice(0, 100) }, {}]) {
    const text = asciiOf({ ...change, ...part });
    if (text.length <= MAX_RULE) return text;
  }
  // Then the rule that was set is so long, or the texts have hardly any ASCII. These have room as they are.
  const least = { ...change, after: undefined };
  const text = asciiOf(least);
  return text.length <= MAX_RULE ? text : JSON.stringify(least);
}

/** JSON in ASCII, because not every database counts the length of other texts in characters. */
function asciiOf(value: object): string {
  return JSON.stringify(value).replaceAll(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** `undefined` for the row of an override, and for one that another version has written. */
function changeOf({ name: rowName, key, rule, setAt }: OverrideRow): LoggedChange | undefined {
  if (!isChange({ name: rowName })) return undefined;
  try {
    const { rows, ...noted } = JSON.parse(rule) as Noted;
    if (typeof noted.name !== "string" || typeof noted.action !== "string") return undefined;
    return {
      ...noted,
      id: rowName.slice(CHANGE_PREFIX.length),
      at: setAt,
      key: key === "" ? undefined : key,
      ...(rows && { rows: rows.map(([shard, used, ts]) => ({ shard, used, ts })) }),
    };
  } catch {
    return undefined;
  }
}
