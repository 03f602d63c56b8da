/**
 * Lists rows by SCAN. Redis has no order of its keys, so a page costs a walk over all keys of the server.
 * To save walks, a walk remembers the rows that follow its page.
 */
import { firstWith, type RateLimitStore, type RowId } from "../store/store.js";
import type { RedisPort } from "./redis-port.js";
import type { Tags } from "./tags.js";

/** Keys per step of a walk. */
const STEP = "1000";
/** The most rows that a walk remembers. */
const AHEAD = 10_000;
/** How long a walk remembers rows, ms. Rows that are inserted meanwhile may be left out. */
const REMEMBERED = 5000;

export interface RedisList {
  list: NonNullable<RateLimitStore["list"]>;
  names(): AsyncIterable<string>;
  /**
   * The Redis keys of the rows of a name, step by step, with some others. The same key may come twice.
   */
  walk(name: string): AsyncIterable<readonly string[]>;
}

export function createRedisList(port: RedisPort, prefix: string, tags: Tags): RedisList {
  const rows = new ScannedRows(port, prefix, tags);
  return { list: rows.list.bind(rows), names: rows.names.bind(rows), walk: rows.walk.bind(rows) };
}

class ScannedRows implements RedisList {
  /** The rows that follow `after`, in order, and when the walk that found them began. */
  #ahead: { name: string; after: RowId; rows: RowId[]; at: number } | undefined;

  constructor(
    private readonly port: RedisPort,
    private readonly prefix: string,
    private readonly tags: Tags,
  ) {}

  async list(name: string, given: RowId | undefined, count: number, begins = ""): Promise<RowId[]> {
    const after = given ?? firstWith(name, begins);
    const known = this.#takeAhead(name, after);
    let rows = known?.rows ?? [];
    let at = known?.at ?? 0;
    if (rows.length < count) {
      at = performance.now();
      rows = await this.#find(name, after, Math.max(count, AHEAD));
    }
    const page = rows.slice(0, count);
    const last = page.at(-1);
    if (last !== undefined) this.#ahead = { name, after: last, rows: rows.slice(count), at };
    return page.filter(({ key }) => key.startsWith(begins));
  }

  async *names(): AsyncGenerator<string> {
    const seen = new Set<string>();
    for await (const page of this.#walk(`${escape(this.prefix)}{*}*`)) {
      for (const { name } of this.#rowsOf(page)) {
        if (seen.has(name)) continue;
        seen.add(name);
        yield name;
      }
    }
  }

  walk(name: string): AsyncGenerator<string[]> {
    return this.#walk(`${escape(this.prefix)}{*}${escape(name)}\0*`);
  }

  /** The remembered rows, if they follow `after`. They are remembered for one page only. */
  #takeAhead(name: string, after: RowId | undefined) {
    const known = this.#ahead;
    this.#ahead = undefined;
    const isNext =
      known !== undefined &&
      known.name === name &&
      after !== undefined &&
      compare(known.after, after) === 0 &&
      performance.now() - known.at < REMEMBERED;
    return isNext ? known : undefined;
  }

  async #find(name: string, after: RowId | undefined, most: number): Promise<RowId[]> {
    const found = new Map<string, RowId>();
    let rows: RowId[] = [];
    for await (const page of this.walk(name)) {
      for (const row of this.#rowsOf(page)) {
        if (row.name !== name) continue;
        if (after !== undefined && compare(row, after) <= 0) continue;
        // SCAN may return a key twice.
        found.set(`${row.key}\0${row.shard}`, row);
      }
      if (found.size < 2 * most) continue;
      rows = [...found.values()].sort(compare).slice(0, most);
      found.clear();
      for (const row of rows) found.set(`${row.key}\0${row.shard}`, row);
    }
    return [...found.values()].sort(compare).slice(0, most);
  }

  #rowsOf(keys: readonly string[]): RowId[] {
    return keys.flatMap((key) => this.tags.rowOf(key) ?? []);
  }

  async *#walk(pattern: string): AsyncGenerator<string[]> {
    for (const master of await this.port.masters()) {
      let cursor = "0";
      do {
        const args = ["SCAN", cursor, "MATCH", pattern, "COUNT", STEP];
        const [next, keys] = (await master.send(args, undefined)) as [unknown, unknown[]];
        yield keys.map(String);
        cursor = String(next);
      } while (cursor !== "0");
    }
  }
}

function compare(a: RowId, b: RowId): number {
  if (a.key !== b.key) return a.key < b.key ? -1 : 1;
  return a.shard - b.shard;
}

/** A text that SCAN takes literally. */
function escape(text: string): string {
  return text.replace(/[\\*?[\]^-]/g, "\\$&");
}
