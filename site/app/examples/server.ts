/**
 * The server of the examples in the documentation: the limit that the pages use, and customers who call
 * for the control room.
 */
import { initTRPC } from "@trpc/server";
import { MINUTE, SECOND } from "trpc-rate-limit";
import { createRateLimiter, memoryStore } from "trpc-rate-limit/server";
import { createRateLimitTRPC, formatRateLimitError } from "trpc-rate-limit/trpc";
import { z } from "zod";
import { controlRoomLimits } from "../../../example-app/control-room/limits.js";
import { callAsCustomers, callOnce } from "../../../example-app/control-room/traffic.js";

interface Context {
  userId: string;
}
export const CONTEXT: Context = { userId: "you" };

/** How long the customers have called before a reader looks, so that the chart has bars at once. */
const CALLED_FOR = 30 * MINUTE;
/** Between two rounds of that time. */
const PACE = 2 * SECOND;

export function createExampleRouter() {
  /** How far the clock is behind: it runs through the half hour before the reader came. */
  let behind = 0;
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: {
      // The control room opens on the first limit.
      ...controlRoomLimits,
      // 3 at once, and then one every 6 seconds.
      sendMessage: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
    },
    overrides: true,
    clock: () => Date.now() - behind,
  });

  async function callBeforeNow(): Promise<void> {
    for (behind = CALLED_FOR; behind > 0; behind -= PACE) await callOnce({ limiter });
    behind = 0;
    await limiter.flushUsage();
    callAsCustomers({ limiter }, undefined).catch(() => {});
  }
  let called: Promise<void> | undefined;

  const t = initTRPC.context<Context>().create({
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
  });
  const rl = createRateLimitTRPC({
    t,
    limiter,
    key: ({ ctx }) => ctx.userId,
    admin: {
      // The customers call as soon as somebody wants to see them.
      authorize: async () => {
        await (called ??= callBeforeNow());
        return true;
      },
      actor: ({ ctx }) => ctx.userId,
    },
  });
  return t.router({
    rateLimit: rl.router,
    rateLimitAdmin: rl.admin,
    send: t.procedure
      .input(z.object({ text: z.string() }))
      .use(rl.rateLimited("sendMessage"))
      .mutation(({ input }) => input),
  });
}

export type AppRouter = ReturnType<typeof createExampleRouter>;
