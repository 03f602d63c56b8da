/**
 * The operations of the scripts on rows of one server, or of one tag. Each operation is one command, and
 * atomic.
 */
import type { Row } from "../../core/rows/row.js";
import type { WriteGroup } from "../store/plan-writes.js";
import type { PeriodicConfig } from "../../core/config.js";
import { type TakeLine, UnsentError, type WriteOutcomes } from "../store/row-access.js";
import { rowKey, type RowId } from "../store/store.js";
import { indexesOf } from "./time-index.js";
import { RedisConflictError } from "./redis-errors.js";
import { isHeld, stateOf, takeWords, writeWords } from "./row-words.js";
import type { ScriptRunner } from "./run-script.js";
import type { Tags } from "./tags.js";

/**
 * How long a process may hold rows without renewal, ms. After a process was killed, calls on its rows
 * wait for this time, or time out. A process that stands still for longer loses its rows, and may leave a
 * decision half written. Tried and too short for a busy machine: 1 s.
 */
export const HOLD = 3000;

/** In place of the holder of rows that are not held. */
export const NOT_HELD = "";

export interface Found {
  states: Map<string, Row>;
  /** Whether another process holds one of the rows. */
  isHeld: boolean;
}

export class RedisRows {
  constructor(
    private readonly tags: Tags,
    readonly runner: ScriptRunner,
  ) {}

  read(rows: readonly RowId[]): Promise<Found> {
    return this.ask("read", rows, []);
  }

  /** Holds all rows. Rejects with a `RedisConflictError` if another process holds one of the rows. */
  async hold(rows: readonly RowId[], holder: string): Promise<Found["states"]> {
    return (await this.ask("hold", rows, [holder, String(HOLD)])).states;
  }

  /** Nothing waits for the command. If the command is lost, the rows are free after `HOLD`. */
  release(rows: readonly RowId[], holder: string): void {
    if (rows.length === 0) return;
    this.runner.run("release", rows.map(this.tags.keyOf), [holder]).catch(() => {});
  }

  async take(lines: readonly TakeLine<PeriodicConfig>[], now: number): Promise<Map<string, Row>> {
    const keys = lines.map(({ row }) => this.tags.keyOf(row));
    const words = await this.runner.run("take", keys, takeWords(lines, now));
    const taken = new Map<string, Row>();
    for (let i = 0; i < lines.length; i++) {
      const state = stateOf(words[i]!, lines[i]!.fresh.ts);
      if (state !== undefined) taken.set(rowKey(lines[i]!.row), state);
    }
    return taken;
  }

  /** `undefined` if nothing was taken. */
  takeOne(line: TakeLine<PeriodicConfig>, now: number): Promise<Row | undefined> {
    const { runner, tags } = this;
    if (runner.mayTakeOne()) return runner.takeOne(tags.keyOf(line.row), line, now);
    return this.take([line], now).then((taken) => taken.get(rowKey(line.row)));
  }

  /**
   * Never rejects.
   *
   * @param holder the holder of the rows, or `NOT_HELD`.
   * @param keeps whether the written rows stay held, for `HOLD` from now on. Otherwise, the write frees
   * the rows.
   */
  async write(
    groups: readonly WriteGroup[],
    isWanted: ((group: WriteGroup) => boolean) | undefined,
    holder: string,
    keeps = false,
  ): Promise<WriteOutcomes> {
    const outcomes: WriteOutcomes = new Map();
    const sent: WriteGroup[] = [];
    for (const group of groups) {
      if (isWanted === undefined || isWanted(group)) sent.push(group);
      else outcomes.set(group, { error: new UnsentError() });
    }
    if (sent.length === 0) return outcomes;
    try {
      const now = this.runner.clock.now();
      const keys: string[] = [];
      const args = [holder, keeps ? String(HOLD) : ""];
      const indexes: string[] = [];
      const rows = sent.reduce((sum, { writes }) => sum + writes.length, 0);
      for (const { writes } of sent) {
        args.push(String(writes.length));
        for (const each of writes) {
          keys.push(this.tags.keyOf(each.row));
          const own = indexesOf(this.tags, each.row);
          // The place counts from 1, as in Lua.
          const place = own && rows + indexes.push(...own) - own.length + 1;
          args.push(...writeWords(each, now, place));
        }
      }
      const words = await this.runner.run("write", [...keys, ...indexes], args);
      for (const [i, group] of sent.entries()) {
        if (words[i] === "1") outcomes.set(group, "written");
        else if (group.writes.every(({ was }) => was === null)) outcomes.set(group, "exists");
      }
    } catch (error) {
      if (error instanceof RedisConflictError) return outcomes;
      for (const group of sent) outcomes.set(group, { error });
    }
    return outcomes;
  }

  private async ask(name: "read" | "hold", rows: readonly RowId[], args: readonly string[]) {
    const words = await this.runner.run(name, rows.map(this.tags.keyOf), args);
    const states = new Map<string, Row>();
    for (let i = 0; i < rows.length; i++) {
      const state = stateOf(words[i]!);
      if (state !== undefined) states.set(rowKey(rows[i]!), state);
    }
    return { states, isHeld: words.some(isHeld) };
  }
}
