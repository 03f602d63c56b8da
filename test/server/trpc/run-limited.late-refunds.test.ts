/** Guesses that stay open across a window's start, or while a bucket refills. */
import { initTRPC, TRPCError } from "@trpc/server";
import { expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import { createRateLimiter, memoryStore, MINUTE } from "../../../server/index.js";
import { createRateLimitTRPC, SHARED_BUCKET } from "../../../server/trpc/index.js";

it.each([
  ["fixed window", { kind: "fixed window", rate: 3, period: MINUTE, start: 0 }],
  ["token bucket", { kind: "token bucket", rate: 3, period: MINUTE }],
] as const)("let no more than three failures through, in a %s", async (_, logIn) => {
  const clock = createManualClock(59_000);
  const limiter = createRateLimiter({ store: memoryStore(), clock, limits: { logIn } });
  const t = initTRPC.create();
  const rl = createRateLimitTRPC({ key: SHARED_BUCKET, t, limiter });
  const open: (() => void)[] = [];
  const router = t.router({
    slow: t.procedure.use(rl.rateLimited("logIn", { on: "error" })).mutation(async () => {
      await new Promise<void>((resolve) => open.push(resolve));
    }),
    wrong: t.procedure.use(rl.rateLimited("logIn", { on: "error" })).mutation(() => {
      throw new TRPCError({ code: "UNAUTHORIZED" });
    }),
  });
  const caller = router.createCaller({});
  const slow = [caller.slow(), caller.slow(), caller.slow()];
  while (open.length < 3) await Promise.resolve();
  clock.advance(MINUTE);
  let failures = 0;
  const guess = async (times: number) => {
    for (let i = 0; i < times; i++) {
      await caller.wrong().catch(({ code }: TRPCError) => {
        if (code === "UNAUTHORIZED") failures++;
      });
    }
  };
  await guess(3);
  for (const finish of open) finish();
  await Promise.all(slow);
  await guess(3);
  expect(failures).toBe(3);
});
