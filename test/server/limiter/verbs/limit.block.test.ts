/** `blockFor`: a denial closes the bucket, once, for every server that shares it. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { createRateLimiter, memoryStore, MINUTE, SECOND } from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const BLOCK = 15 * MINUTE;
const limits = {
  logIn: { kind: "token bucket", rate: 5, period: MINUTE, blockFor: BLOCK },
  window: { kind: "fixed window", rate: 2, period: MINUTE, start: 0, blockFor: 90 * SECOND },
  plain: { kind: "token bucket", rate: 5, period: MINUTE },
} as const;

describe.each(storesAndRedis)("a limit with blockFor on %s", (_, open) => {
  it("is closed by the first denial until its block ends, to the ms, and is empty then", async () => {
    const { clock, limiter } = await twoProcesses(open, limits);
    for (let i = 0; i < 5; i++) expect((await limiter.limit("logIn")).ok).toBe(true);
    // One token, which comes after 12 s, could be taken at the end of the block and 12 s.
    const denied = await limiter.limit("logIn");
    expect(denied).toMatchObject({ ok: false, retryAfter: BLOCK + MINUTE / 5 });
    clock.advance(BLOCK);
    expect(await limiter.getValue("logIn")).toMatchObject({ value: 0 });
    expect(await limiter.limit("logIn")).toMatchObject({ ok: false, retryAfter: MINUTE / 5 });
    clock.advance(MINUTE / 5 - 1);
    expect(await limiter.limit("logIn")).toMatchObject({ ok: false, retryAfter: 1 });
    clock.advance(1);
    expect((await limiter.limit("logIn")).ok).toBe(true);
    // It was granted again, so the next denial closes it again.
    expect(await limiter.limit("logIn")).toMatchObject({ retryAfter: BLOCK + MINUTE / 5 });
  });

  it("keeps a fixed window closed until the first window after the block", async () => {
    const { clock, limiter } = await twoProcesses(open, limits, {
      now: Date.UTC(2030, 0, 1) + 20 * SECOND,
    });
    await limiter.limit("window", { count: 2 });
    // 20 s and 90 s are 110 s, so the first window after that begins at 120 s.
    expect(await limiter.limit("window")).toMatchObject({ ok: false, retryAfter: 100 * SECOND });
    clock.advance(99_999);
    expect(await limiter.limit("window")).toMatchObject({ ok: false, retryAfter: 1 });
    clock.advance(1);
    expect((await limiter.limit("window", { count: 2 })).ok).toBe(true);
  });

  it("is closed by calls only: a check changes nothing, and then tells the block's end", async () => {
    const { clock, limiter } = await twoProcesses(open, limits);
    await limiter.limit("logIn", { count: 5 });
    expect(await limiter.check("logIn")).toMatchObject({ ok: false, retryAfter: MINUTE / 5 });
    clock.advance(MINUTE / 5);
    expect((await limiter.check("logIn")).ok).toBe(true);
    await limiter.limit("logIn", { count: 5 });
    // This call wanted 5 tokens at once, so the block began when it was denied.
    expect(await limiter.check("logIn")).toMatchObject({ retryAfter: BLOCK + MINUTE / 5 });
  });

  it("opens for a reset, and not for tokens that come back", async () => {
    const { limiter } = await twoProcesses(open, limits);
    const result = await limiter.limit("logIn", { count: 5 });
    await limiter.limit("logIn");
    await limiter.refund("logIn", { count: 5, result });
    await limiter.refund("logIn", { count: 5 });
    await limiter.settle(result, 0);
    expect(await limiter.check("logIn")).toMatchObject({ retryAfter: BLOCK + MINUTE / 5 });
    await limiter.reset("logIn");
    expect((await limiter.limit("logIn", { count: 5 })).ok).toBe(true);
  });

  it("closes alone in a limitAll that it denies: the others keep their tokens", async () => {
    const { clock, limiter } = await twoProcesses(open, limits);
    await limiter.limit("logIn", { count: 5 });
    const denied = await limiter.limitAll([{ name: "plain" }, { name: "logIn" }]);
    const retryAfter = BLOCK + MINUTE / 5;
    expect(denied).toMatchObject({ ok: false, name: "logIn", retryAfter });
    expect(await limiter.getValue("plain")).toMatchObject({ value: 5 });
    clock.advance(retryAfter - 1);
    expect((await limiter.limitAll([{ name: "plain" }, { name: "logIn" }])).ok).toBe(false);
    clock.advance(1);
    expect((await limiter.limitAll([{ name: "plain" }, { name: "logIn" }])).ok).toBe(true);
  });

  it("is closed once by concurrent denials of two servers, and grants nothing until its end", async () => {
    await using opened = await open();
    const clock = createManualClock();
    const servers = [opened.store, opened.peer].map((store) =>
      createRateLimiter({ store, clock, limits }),
    );
    const calls = Array.from({ length: 64 });
    const volley = (key: string) =>
      Promise.all(calls.map((__, i) => servers[i % 2]!.limit("logIn", { key })));
    for (let round = 0; round < 5; round++) {
      const key = `round ${round}`;
      const start = clock();
      const answers = await volley(key);
      expect(answers.filter(({ ok }) => ok)).toHaveLength(5);
      const end = BLOCK + MINUTE / 5;
      // The first denial has closed it. The others neither extended it nor shortened it.
      expect(waitsOf(answers)).toEqual([end]);
      for (const at of [1, BLOCK / 2, BLOCK, end - 1]) {
        clock.set(start + at);
        const later = await volley(key);
        expect(later.filter(({ ok }) => ok)).toEqual([]);
        expect(waitsOf(later)).toEqual([end - at]);
      }
      clock.set(start + end);
      expect((await volley(key)).filter(({ ok }) => ok)).toHaveLength(1);
    }
  });

  it("lets calls race with its refill without a grant during a block", async () => {
    await using opened = await open();
    // The clock moves under the calls.
    let now = Date.UTC(2030, 0, 1);
    const clock = () => (now += 7);
    const short = { kind: "token bucket", rate: 10, period: SECOND, blockFor: 3000 } as const;
    const servers = [opened.store, opened.peer].map((store) =>
      createRateLimiter({ store, clock, limits: { short } }),
    );
    const decisions: { ok: boolean; from: number; to: number; until: number }[] = [];
    const call = async (server: (typeof servers)[number]) => {
      const from = now;
      const { ok, retryAfter = 0 } = await server.limit("short");
      decisions.push({ ok, from, to: now, until: from + retryAfter });
    };
    for (let round = 0; round < 6; round++) {
      await Promise.all(Array.from({ length: 40 }, (__, i) => call(servers[i % 2]!)));
    }
    for (const { until, to } of decisions.filter(({ ok }) => !ok)) {
      const early = decisions.filter(({ ok, from, to: at }) => ok && from > to && at < until);
      expect(early).toEqual([]);
    }
    expect(decisions.some(({ ok }) => !ok)).toBe(true);
  });
});

const waitsOf = (answers: readonly { ok: boolean; retryAfter?: number }[]) => [
  ...new Set(answers.filter(({ ok }) => !ok).map(({ retryAfter }) => retryAfter)),
];

describe("blockFor", () => {
  it("tells listeners of the change once, when a denial closes the bucket", async () => {
    const store = memoryStore();
    const limiter = createRateLimiter({ store, clock: createManualClock(), limits });
    await limiter.limit("logIn", { count: 5 });
    let changes = 0;
    limiter.onChange(() => changes++);
    for (let i = 0; i < 3; i++) await limiter.limit("logIn");
    expect(changes).toBe(1);
  });
});
