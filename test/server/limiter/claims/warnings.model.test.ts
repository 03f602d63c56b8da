/**
 * Random programs against the model of `warnAt`: calls of all kinds by two processes, givings-back,
 * resets, changes of plan and waits. `FUZZ_CASES` sets the number of programs in memory.
 */
import { expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  HOUR,
  memoryStore,
  MINUTE,
  type RateLimitStore,
  SECOND,
} from "../../../../server/index.js";
import { cases } from "../../../support/cases.js";
import { stores } from "../../../support/stores.js";
import { xorshift } from "../../store/sql/differential.js";
import { WarningModel } from "./warning-model.js";

const levels = [0.5, 0.8, 1] as const;
const shared = { holds: true, warnAt: levels } as const;
const plans = {
  small: { rate: 10, maxReserved: 20 },
  large: { rate: 25, maxReserved: 20 },
} as const;
const refilled = { rate: 60, capacity: 10, maxReserved: 20 } as const;
const HOLD = { for: HOUR, then: "keep" } as const;

function open(store: RateLimitStore, clock: () => number) {
  return createRateLimiter({
    store,
    clock,
    plans: ["small", "large"],
    limits: {
      window: { kind: "fixed window", period: HOUR, start: 0, ...shared, plans },
      bucket: {
        kind: "token bucket",
        period: MINUTE,
        ...shared,
        plans: { small: refilled, large: refilled },
      },
    },
  });
}

type Limiter = ReturnType<typeof open>;
interface Taken {
  limiter: Limiter;
  plan: "small" | "large";
  taken: Awaited<ReturnType<Limiter["limit"]>>;
}

interface Program {
  limiter: Limiter;
  name: "window" | "bucket";
  of: { key: string; plan: "small" | "large" };
  last: Taken | undefined;
  count: number;
  id: string;
  pick(below: number): number;
  clock: ReturnType<typeof createManualClock>;
}

async function take(at: Program): Promise<void> {
  const { limiter, name, of, count } = at;
  at.last = { limiter, plan: of.plan, taken: await limiter.limit(name, { ...of, count }) };
}

/** Each step is one change of the use, or none. The time alone changes no row. */
const steps: readonly (readonly [string, (program: Program) => Promise<unknown>])[] = [
  ["limit", take],
  ["limit", take],
  [
    "reserve",
    ({ limiter, name, of, count }) => limiter.limit(name, { ...of, count, reserve: true }),
  ],
  ["charge", ({ limiter, name, of, count }) => limiter.charge(name, { ...of, count })],
  ["settle", async ({ last, pick }) => last?.taken.ok && last.limiter.settle(last.taken, pick(7))],
  ["refund", async ({ last }) => last?.taken.ok && last.limiter.settle(last.taken, 0)],
  [
    "limitAll",
    ({ limiter, name, of, count }) =>
      limiter.limitAll([
        { name, ...of, count },
        { name, ...of, count: 1 },
      ]),
  ],
  [
    "three at once",
    ({ limiter, name, of }) => Promise.all([1, 2, 3].map(() => limiter.limit(name, of))),
  ],
  [
    "hold",
    ({ limiter, name, of, count, id: once }) =>
      limiter.limit(name, { ...of, count, once, hold: HOLD }),
  ],
  [
    "settle a hold",
    ({ limiter, name, of, id: once, pick }) => limiter.settle(name, { ...of, once }, pick(7)),
  ],
  ["release", ({ limiter, name, of, id: once }) => limiter.release(name, { ...of, once })],
  ["wait", async ({ clock, pick }) => clock.advance(pick(9) * SECOND)],
  ["wait for long", async ({ clock, pick }) => clock.advance(pick(3) * HOUR)],
  [
    "reset",
    async ({ limiter, name, of: { key }, pick }) => pick(2) === 0 && limiter.reset(name, { key }),
  ],
  ["change the plan", async ({ of, pick }) => (of.plan = pick(2) === 0 ? "small" : "large")],
];

const rising = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b);

async function runProgram(
  limiters: readonly [Limiter, Limiter],
  clock: Program["clock"],
  key: string,
  random: () => number,
): Promise<void> {
  const pick = (below: number) => Math.floor(random() * below);
  const name = pick(2) === 0 ? "window" : "bucket";
  const of: Program["of"] = { key, plan: "small" };
  const model = new WarningModel(levels);
  const expected: number[] = [];
  const log: string[] = [];
  let last: Taken | undefined;
  const look = async (plan: Taken["plan"]) => {
    const { value, config, ts } = await limiters[0].getValue(name, { key, plan });
    const { capacity = config.rate } = config;
    return { used: (capacity - value) / capacity, window: name === "window" ? ts : undefined };
  };
  for (let length = 4 + pick(14); length > 0; length--) {
    const [word, step] = steps[pick(steps.length)]!;
    const program: Program = {
      limiter: limiters[pick(2)]!,
      name,
      of,
      last,
      count: 1 + pick(4),
      id: `id ${pick(3)}`,
      pick,
      clock,
    };
    log.push(`${word} (${program.count}, ${of.plan}, ${clock()})`);
    // A result is corrected by the plan of its call.
    const plan = /^(settle|refund)$/.test(word) ? (last?.plan ?? of.plan) : of.plan;
    const before = await look(plan);
    await step(program);
    last = program.last;
    if (word.startsWith("wait") || word.startsWith("change")) continue;
    const { used: after, window } = await look(plan);
    expected.push(...model.crossedBy({ before: before.used, after, window }));
    const found = await limiters[1].warnings(name, { key });
    const got = rising(found.map((each) => each.level));
    expect({ got, after: log }).toEqual({ got: rising(expected), after: log });
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
  }
}

const many = Number(process.env["FUZZ_CASES"] ?? cases(10_000));

it("crosses the levels that the model crosses", { timeout: 60_000 + 4 * many }, async () => {
  const clock = createManualClock(1_900_000_000_000);
  const random = xorshift(Number(process.env["FUZZ_SEED"] ?? 7));
  for (let i = 0; i < many; i++) {
    // Calls in memory wait for no turn of the event loop, so no timer would ever end.
    if (i % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    // A list of rows takes longer in a store that has more of them.
    const store = memoryStore();
    await runProgram([open(store, clock), open(store, clock)], clock, "key", random);
  }
});

it.each(stores.filter(([on]) => on !== "memory"))(
  "crosses the same levels by the statements of %s",
  { timeout: 60_000 },
  async (_, openStore) => {
    await using opened = await openStore();
    const clock = createManualClock(1_900_000_000_000);
    const limiters = [open(opened.store, clock), open(opened.peer, clock)] as const;
    const random = xorshift(8);
    for (let i = 0; i < cases(200); i++) await runProgram(limiters, clock, `key ${i}`, random);
  },
);
