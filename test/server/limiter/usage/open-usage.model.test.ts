/**
 * Random programs of two processes, and a model that adds up every answer: the key, what was granted and
 * denied, and what came back. At the end, `usage` agrees with the model, for each key and hour.
 */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { createRateLimiter, HOUR, type RateLimiter, type Usage } from "../../../../server/index.js";
import { cases } from "../../../support/cases.js";
import { stores } from "../../../support/stores.js";

const START = Date.UTC(2030, 0, 1);
const HOURS = 6;
const STEPS = 80;
const limits = {
  bucket: { kind: "token bucket", rate: 64, period: HOUR, usage: true },
  window: { kind: "fixed window", rate: 96, period: 2 * HOUR, start: 0, usage: true },
  shadow: { kind: "fixed window", rate: 32, period: HOUR, start: 0, shadow: true, usage: true },
  credits: { kind: "credits", usage: true },
} as const;
type Name = keyof typeof limits;
const NAMES = Object.keys(limits) as Name[];
const KEYS = ["ann", "a|b", "a\\", undefined] as const;
const keyed = (key: string | undefined) => (key === undefined ? {} : { key });
const none = (): Usage => ({ granted: 0, denied: 0, taken: 0, givenBack: 0 });

/** The same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed + 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** What was used, by limit, key and hour. Callers without a key have what all have together. */
class Model {
  readonly #used = new Map<string, Usage>();

  add(name: Name, key: string | undefined, now: number, usage: Partial<Usage>): void {
    for (const of of new Set([key, undefined])) {
      const sums = this.of(name, of, Math.floor((now - START) / HOUR));
      for (const [what, count] of Object.entries(usage)) sums[what as keyof Usage] += count;
    }
  }

  of(name: Name, key: string | undefined, hour: number): Usage {
    const id = JSON.stringify([name, key, hour]);
    if (!this.#used.has(id)) this.#used.set(id, none());
    return this.#used.get(id)!;
  }
}

type Limiter = RateLimiter<typeof limits>;
type Operations = Pick<Limiter, "limit" | "limitAll" | "limitFirst" | "charge" | "settle">;
type Used = (name: Name, key: string | undefined, usage: Partial<Usage>) => void;

/** Tokens of one call that can still be corrected. */
interface Kept {
  readonly name: Name;
  readonly key: string | undefined;
  readonly by: Limiter;
  readonly result: Awaited<ReturnType<Limiter["limit"]>>;
  count: number;
}

async function run(processes: readonly Limiter[], seed: number, move: (now: number) => void) {
  const random = randomOf(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const count = () => pick([1, 1, 1, 2, 7, 0.5, 0]);
  const model = new Model();
  const kept: Kept[] = [];
  let now = START;

  /** One random call, on a limiter or in a transaction. */
  async function call(to: Operations, by: Limiter, used: Used, keep: Kept[]): Promise<void> {
    const [name, key] = [pick(NAMES), pick(KEYS)];
    const n = count();
    const kind = random();
    if (kind < 0.55) {
      const result = await to.limit(name, { ...keyed(key), count: n });
      if (!result.ok) return used(name, key, { denied: 1 });
      used(name, key, { granted: 1, taken: n });
      keep.push({ name, key, by, result, count: n });
    } else if (kind < 0.7) {
      const asked = NAMES.filter((each) => each !== "credits").map((each) => {
        return { name: each, ...keyed(key), count: n };
      });
      const { ok, results } = await to.limitAll(asked);
      for (const [i, { name: each }] of asked.entries()) {
        if (ok) used(each, key, { granted: 1, taken: n });
        else if (!results[i]!.ok) used(each, key, { denied: 1 });
      }
    } else if (kind < 0.8) {
      const asked = ["window", "credits"] as const;
      const answer = await to.limitFirst(asked, { ...keyed(key), count: n });
      if (answer.ok) {
        for (const paid of answer.paid) {
          used(paid.name, key, { granted: 1, taken: paid.count });
        }
      } else for (const each of asked) used(each, key, { denied: 1 });
    } else if (kind < 0.9) {
      await to.charge(name, { ...keyed(key), count: n });
      used(name, key, { taken: n });
    } else if (keep.length > 0) {
      const one = pick(keep);
      // A result remembers what its own limiter and its own transaction have corrected.
      if (one.by !== by) return;
      const actual = count() * pick([0.5, 1, 4]);
      await to.settle(one.result, actual);
      const more = actual - one.count;
      used(one.name, one.key, more > 0 ? { taken: more } : { givenBack: -more });
      one.count = actual;
    }
  }

  for (let step = 0; step < STEPS; step++) {
    const by = pick(processes);
    const kind = random();
    if (kind < 0.15) {
      now = Math.min(START + HOURS * HOUR - 1, Math.max(START, now + pick([1, 0.4, -0.3]) * HOUR));
      move(now);
    } else if (kind < 0.25) await by.flushUsage();
    else if (kind < 0.35) {
      const isKept = random() < 0.5;
      const told: Parameters<Used>[] = [];
      const inside: Kept[] = [];
      const body = async (tx: Operations) => {
        told.length = inside.length = 0;
        for (let i = 0; i < 3; i++) await call(tx, by, (...used) => void told.push(used), inside);
        if (!isKept) throw new Error("roll back");
      };
      await by.transaction(body).catch((error: unknown) => {
        if (isKept) throw error;
      });
      for (const used of isKept ? told : []) model.add(used[0], used[1], now, used[2]);
    } else {
      await call(by, by, (name, key, usage) => model.add(name, key, now, usage), kept);
    }
  }
  return model;
}

describe.each(stores)("random programs on %s", (storeName, open) => {
  const programs = cases(storeName === "memory" ? 2000 : 20);

  it("find what the model has added up", { timeout: 120_000 }, async () => {
    let counted = 0;
    for (let seed = 0; seed < programs; seed++) {
      await using opened = await open({ isNew: true });
      const clock = createManualClock(START);
      const processes = [opened.store, opened.peer].map((store) =>
        createRateLimiter({ store, limits, clock, random: randomOf(seed), waitUntil() {} }),
      );
      for (const key of KEYS) {
        await processes[0]!.credit("credits", { ...keyed(key), count: 40 });
      }
      const model = await run(processes, seed, clock.set);
      for (const limiter of processes) await limiter.flushUsage();
      const span = { from: START, to: START + HOURS * HOUR };
      for (const name of NAMES) {
        for (const key of KEYS) {
          const { items } = await processes[seed % 2]!.usage(name, { ...keyed(key), ...span });
          const expected = items.map((item, hour) => {
            return { start: item.start, end: item.end, ...model.of(name, key, hour) };
          });
          expect(items, `seed ${seed}, ${name} of ${key}`).toEqual(expected);
          counted += items.reduce((sum, { granted, denied }) => sum + granted + denied, 0);
        }
      }
    }
    expect(counted).toBeGreaterThan(programs * 20);
  });
});
