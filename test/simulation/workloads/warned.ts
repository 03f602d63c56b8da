/**
 * Calls of all processes that use up limits with `warnAt`, and give tokens back now and then. The levels
 * that a key crosses are written in the decision that uses its tokens, and told at least once.
 */
import { WARNINGS } from "../../../core/rows/warning.js";
import { bucketKeyOf } from "../../../core/rows/marker.js";
import type { ModelTransaction } from "../model/rows.js";
import { type Caller, isStoreFailure, type Workload } from "./context.js";

const CAPACITY = 12;
const LEVELS = [0.25, 0.75, 1];
const LIMITS = {
  warned: {
    kind: "fixed window",
    rate: CAPACITY,
    period: 10_000 * 86_400_000,
    start: 0,
    warnAt: LEVELS,
  },
} as const;

/** How long a key is the newest, ms. */
const EVERY = 300;
/** Keeps a seed short. */
const MOST_CALLS = 60;
/** How often a process looks whether all warnings were told, ms. */
const WAIT = 5000;
/** After a clock was set, a warning may be due only much later. */
const MOST_WAITS = 25;

export interface Warned {
  /** The rows of warnings that were written, and what they are about: a key and a level. */
  readonly written: Map<string, string>;
  /** The ids of the warnings that were told. */
  readonly told: Set<string>;
}

export function createWarned({ told }: Warned): Workload {
  return async (caller: Caller) => {
    const { member, random, timeline, tally } = caller;
    const limiter = member.limiter(LIMITS);
    const stop = limiter.onWarning(async ({ id }) => {
      await member.sleep(random.below(20));
      if (caller.isOn() && random.chance(0.1)) throw new Error("no mail");
      told.add(id);
    });
    for (let i = 0; i < MOST_CALLS && caller.isOn(); i++) {
      const key = `key ${Math.max(0, Math.floor(timeline.now / EVERY) - random.below(2))}`;
      const count = random.between(1, 3);
      tally.note("warned: limit");
      await attempt(async () => {
        const taken = await limiter.limit("warned", { key, count });
        if (taken.ok && random.chance(0.3)) await limiter.settle(taken, random.below(count + 3));
      });
      if (random.chance(0.5)) await member.sleep(random.below(EVERY / 4));
    }
    // Others may have been killed while they told a warning.
    while (caller.isOn()) await member.sleep(WAIT);
    let isLeft = true;
    for (let i = 0; isLeft && i < MOST_WAITS; i++) {
      await member.sleep(WAIT);
      await attempt(async () => {
        isLeft = (await limiter.warnings("warned")).length > 0;
      });
    }
    stop();

    async function attempt(work: () => Promise<void>): Promise<void> {
      try {
        await work();
      } catch (error) {
        if (!isStoreFailure(error)) throw error;
        caller.failed(error, "warned");
      }
    }
  };
}

/**
 * At a commit: a level has one warning, and a key whose use reaches a level has it.
 *
 * @returns the problem of the commit; `undefined` if there is none.
 */
export function problemOfCommit(
  { written }: Warned,
  { writes }: ModelTransaction,
): string | undefined {
  const about = new Set(written.values());
  for (const [id, state] of writes) {
    const [name, key, shard] = id.split("\0") as [string, string, string];
    if (name !== `${WARNINGS.prefix}warned` || state === null || written.has(id)) continue;
    const what = `${bucketKeyOf(key)} ${shard}`;
    if (about.has(what)) return `the level ${what} was crossed twice`;
    about.add(what);
    written.set(id, what);
  }
  for (const [id, state] of writes) {
    const [name, key] = id.split("\0") as [string, string];
    if (name !== "warned" || state === null) continue;
    const used = state.used < 0 ? CAPACITY - state.used : state.used;
    for (const level of LEVELS) {
      const what = `${key} ${level * 1000}`;
      if (used < level * CAPACITY || about.has(what)) continue;
      return `${used} tokens of ${key} are used, and the level ${level} was not crossed`;
    }
  }
  return undefined;
}

/** After the end: each warning was told, by the id of its row. */
export function problemAtEnd({ written, told }: Warned): string | undefined {
  for (const [row, what] of written) {
    const [, key, shard] = row.split("\0") as [string, string, string];
    const [, at, nonce] = /\|(\w+)-(\w+)-[^|]*$/.exec(key)!;
    if (!told.has(`${at}-${nonce}-${shard}`)) return `nobody was told of ${what}`;
  }
  return undefined;
}
