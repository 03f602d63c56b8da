/**
 * Two processes on a store that lets the other process come between the read of a decision and its
 * guarded writes. Some order of the calls, one after the other, must explain their answers. A draft that
 * forgets what it has read must be found.
 */
import type { Row } from "../../../../core/rows/row.js";
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  createRateLimiter,
  DAY,
  memoryStore,
  type RateLimitStore,
} from "../../../../server/index.js";
import { type Decision, rowKey } from "../../../../server/store/store.js";

const key = "u";
const limits = {
  plan: { kind: "token bucket", rate: 2, period: DAY },
  card: { kind: "token bucket", rate: 3, period: DAY, blockFor: [DAY, 7 * DAY] },
  credits: { kind: "credits" },
} as const;
type Name = keyof typeof limits;

const limiterOn = (store: RateLimitStore) =>
  createRateLimiter({ store, clock: () => 0, random: () => 0, limits });
type Limiter = ReturnType<typeof limiterOn>;

/** @param forgets what a draft does then that notes no reads: it guards no row that it leaves. */
function racingStore(turn: () => Promise<void>, forgets: boolean): RateLimitStore {
  const states = new Map<string, Row>();
  async function apply<TResult>(decision: Decision<TResult>): Promise<TResult> {
    const { rows } = decision;
    for (;;) {
      const read = rows.map((row) => states.get(rowKey(row)) ?? null);
      await turn();
      const { result, writes = [] } = decision.decide(read);
      const isUsed = (i: number) => writes[i] !== undefined && !(forgets && writes[i] === read[i]);
      const used = [...writes.keys()].filter(isUsed);
      if (used.some((i) => (states.get(rowKey(rows[i]!)) ?? null) !== read[i])) continue;
      for (const i of used) {
        if (writes[i]) states.set(rowKey(rows[i]!), { ...writes[i] });
        else states.delete(rowKey(rows[i]!));
      }
      return result;
    }
  }
  return { apply: (decisions) => Promise.all(decisions.map((each) => apply(each))) };
}

type Op = (limiter: Limiter) => Promise<unknown>;
const anyName = fc.constantFrom<Name>("plan", "card", "credits");
const anyOp: fc.Arbitrary<Op> = fc.oneof(
  fc
    .tuple(fc.uniqueArray(anyName, { minLength: 2, maxLength: 3 }), fc.integer({ min: 1, max: 3 }))
    .map(
      ([names, count]): Op =>
        (limiter) =>
          limiter.limitFirst(names, { key, count }),
    ),
  fc
    .array(fc.record({ name: anyName, count: fc.integer({ min: 0, max: 2 }) }), {
      minLength: 2,
      maxLength: 3,
    })
    .map((items): Op => {
      // More of one limit than it can hold is refused before it is decided.
      const all = items.filter(({ name }, i) => items.findIndex((o) => o.name === name) === i);
      return (limiter) => limiter.limitAll(all.map((item) => ({ ...item, key })));
    }),
  fc.record({ name: anyName, count: fc.integer({ min: 1, max: 3 }) }).map(
    ({ name, count }): Op =>
      (limiter) =>
        limiter.charge(name, { key, count }),
  ),
  fc.constantFrom<Name>("plan", "card").map(
    (name): Op =>
      (limiter) =>
        limiter.reset(name, { key }),
  ),
  fc.constant<Op>((limiter) => limiter.credit("credits", { key, count: 2 })),
  anyName.map(
    (name): Op =>
      (limiter) =>
        limiter.getValue(name, { key }),
  ),
);
const process = fc.array(anyOp, { minLength: 1, maxLength: 3 });

/** The answers of both processes, in an order of all their calls. */
async function inOrder(order: readonly boolean[], first: readonly Op[], second: readonly Op[]) {
  const limiter = limiterOn(memoryStore());
  const ops: [Op[], Op[]] = [[...first], [...second]];
  const answers: [unknown[], unknown[]] = [[], []];
  for (const isSecond of order) {
    const which = isSecond ? 1 : 0;
    answers[which].push(await ops[which].shift()!(limiter));
  }
  return JSON.stringify(answers);
}

function* ordersOf(first: number, second: number): Generator<boolean[]> {
  if (first + second === 0) yield [];
  if (first > 0) for (const rest of ordersOf(first - 1, second)) yield [false, ...rest];
  if (second > 0) for (const rest of ordersOf(first, second - 1)) yield [true, ...rest];
}

const races = (forgets: boolean) =>
  fc.asyncProperty(fc.scheduler(), process, process, async (scheduler, first, second) => {
    const store = racingStore(() => scheduler.schedule(Promise.resolve()), forgets);
    const run = async (ops: readonly Op[]) => {
      const limiter = limiterOn(store);
      const answers: unknown[] = [];
      for (const op of ops) answers.push(await op(limiter));
      return answers;
    };
    const both = Promise.all([run(first), run(second)]);
    await scheduler.waitFor(both);
    const answers = JSON.stringify(await both);
    const possible = new Set<string>();
    for (const order of ordersOf(first.length, second.length)) {
      possible.add(await inOrder(order, first, second));
    }
    return possible.has(answers);
  });

it("answers two processes as if their calls came one after the other", async () => {
  await fc.assert(races(false), { numRuns: 500 });
});

it("is found out where a draft forgets to note what it has read", async () => {
  const { failed } = await fc.check(races(true), { numRuns: 20_000, endOnFailure: true });
  expect(failed).toBe(true);
});
