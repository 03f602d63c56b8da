/** The one table of a run. Each statement happens at one instant, and none happens beside another one. */
import type { Op } from "./protocol.js";

/** What a statement has done, in words, and what it answers. */
export interface Answer {
  /** JSON; `null` for a key that does not exist. */
  value: string | null;
  /** Why the statement fails, or `""`. */
  problem: string;
  kind: "read" | "write" | "count";
  text: string;
}

export class Table {
  readonly #rows = new Map<string, { value: string; until: number }>();

  /** @returns the value as JSON; `null` if the key does not exist, or has expired. */
  read(key: string, now: number): string | null {
    const row = this.#rows.get(key);
    return row === undefined || row.until <= now ? null : row.value;
  }

  /** A value that is written keeps the time at which its key expires, as an increment does. */
  write(key: string, value: string | null, now: number): void {
    if (value === null) {
      this.#rows.delete(key);
      return;
    }
    const row = this.#rows.get(key);
    const until = row === undefined || row.until <= now ? Infinity : row.until;
    this.#rows.set(key, { value, until });
  }

  /** Does a statement that needs no code of a process. */
  run({ kind, keys, value, amount }: Op, now: number): Answer {
    const key = keys[0]!;
    const before = this.read(key, now);
    if (kind === "get") return read(before);
    if (kind === "set") {
      this.write(key, value, now);
      return { value, problem: "", kind: "write", text: `writes ${shown(value)}` };
    }
    if (kind === "expire") {
      const row = this.#rows.get(key);
      if (before !== null && row) row.until = now + 1_000 * amount;
      return { value: "true", problem: "", kind: "write", text: `expires in ${amount} s` };
    }
    const sum = Number(before ?? "0") + amount;
    if (!Number.isFinite(sum)) {
      const problem = `${shown(before)} is no number, so it cannot be incremented`;
      return { value: null, problem, kind: "read", text: "fails: no number" };
    }
    this.write(key, String(sum), now);
    return { value: String(sum), problem: "", kind: "count", text: `adds ${amount}: ${sum}` };
  }
}

function read(value: string | null): Answer {
  return { value, problem: "", kind: "read", text: `reads ${shown(value)}` };
}

/** A value in a few letters. Of a row of the package, what is used of the limit. */
export function shown(value: string | null): string {
  if (value === null) return "nothing";
  const used = /^\{"used":(\d+(?:\.\d+)?)[,}]/.exec(value)?.[1];
  // A token comes back every 6 minutes, so that some ms later a little less is used.
  if (used !== undefined) return `${Math.round(10 * Number(used)) / 10} used`;
  return value.length > 16 ? `${value.slice(0, 15)}…` : value;
}
