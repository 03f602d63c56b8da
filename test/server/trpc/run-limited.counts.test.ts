/** Counts of procedures that are not numbers, and the documented way to handle unknown use. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import { MINUTE } from "../../../server/index.js";
import { createLimitedTRPC } from "../../support/limited-trpc.js";

const limits = {
  tokens: { kind: "token bucket", rate: 1000, period: MINUTE },
  daily: { kind: "fixed window", rate: 1000, period: MINUTE, start: 0 },
} as const;

function setUp() {
  const { limiter, t, rl } = createLimitedTRPC(limits, { clock: createManualClock() });
  const left = async (name: "tokens" | "daily") => {
    return (await limiter.getValue(name)).value;
  };
  const callerOf = (router: ReturnType<typeof t.router>) =>
    t.createCallerFactory(router)({}) as unknown as {
      ask(): Promise<AsyncIterable<string>>;
    };
  return { t, rl, left, callerOf };
}

describe("a count that is no number", () => {
  it.each([undefined, NaN])(
    "is refused where a function returns %s, and takes nothing",
    async (n) => {
      const { t, rl, left, callerOf } = setUp();
      const count = () => n as number;
      for (const limited of [
        rl.rateLimited("tokens", { count }),
        rl.rateLimited(["tokens", "daily"], { count }),
        rl.rateLimited.first(["tokens", "daily"], { count }),
        rl.rateLimited.first(["tokens", "daily"], { count, split: true }),
      ]) {
        const router = t.router({ ask: t.procedure.use(limited as never).mutation(() => "done") });
        await expect(callerOf(router as never).ask()).rejects.toMatchObject({
          code: "BAD_REQUEST",
        });
      }
      expect([await left("tokens"), await left("daily")]).toEqual([1000, 1000]);
    },
  );
});

describe("a stream whose provider leaves its usage out", () => {
  it.each([undefined, NaN, 300])("ends as it should, with a usage of %s", async (usage) => {
    const { t, rl, left, callerOf } = setUp();
    const router = t.router({
      ask: t.procedure
        .use(rl.rateLimited(["tokens", "daily"], { count: 500 }))
        .mutation(async function* ({ ctx }) {
          let used: number | undefined;
          try {
            yield "Hello";
            used = usage;
          } finally {
            await ctx.rateLimit.settle({ tokens: used, daily: used });
          }
        }),
    });
    const words = [];
    for await (const word of await callerOf(router as never).ask()) words.push(word);
    expect(words).toEqual(["Hello"]);
    const expected = usage === 300 ? 700 : 500;
    expect([await left("tokens"), await left("daily")]).toEqual([expected, expected]);
  });

  it("settles none of several limits if one of the counts is wrong", async () => {
    const { t, rl, left, callerOf } = setUp();
    const router = t.router({
      ask: t.procedure
        .use(rl.rateLimited(["tokens", "daily"], { count: 500 }))
        .mutation(({ ctx }) => ctx.rateLimit.settle({ tokens: 100, daily: "100" as never })),
    });
    await expect(callerOf(router as never).ask()).rejects.toThrow(/count must be a finite number/);
    expect([await left("tokens"), await left("daily")]).toEqual([500, 500]);
  });
});
