/** What must and must not compile on the server; checked by `tsc`, never run. */
import { initTRPC } from "@trpc/server";
import {
  createRateLimiter,
  createRateLimitTRPC,
  formatRateLimitError,
  isRateLimitError,
  memoryStore,
  MINUTE,
  prismaStore,
  SECOND,
} from "trpc-rate-limit/server";
import { PrismaClient } from "../../prisma/generated/client/client.js";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const assert = <T extends true>(): T | void => {};

const limiter = createRateLimiter({
  store: memoryStore(),
  limits: {
    sendMessage: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
    signUp: { kind: "fixed window", rate: 100, period: MINUTE, start: 0 },
  },
});
const inline = { kind: "fixed window", rate: 1, period: SECOND } as const;

export async function calls(name: string, userId: string | undefined) {
  await limiter.limit("sendMessage");
  await limiter.limit("sendMessage", { key: userId, count: 2, reserve: true, throws: true });
  await limiter.limit("sendMessage", { config: inline });
  await limiter.limit("oneOff", { config: inline });
  await limiter.limit(name, { config: inline });
  // @ts-expect-error an unknown name needs a config
  await limiter.limit("oneOff");
  // @ts-expect-error an unknown name needs a config
  await limiter.limit("oneOff", { key: "k" });
  // @ts-expect-error so does a name that is only known at run time
  await limiter.check(name);
  // @ts-expect-error a misspelt name is an unknown one
  await limiter.reset("sendMesage");
  // @ts-expect-error a misspelt option
  await limiter.limit("sendMessage", { cuont: 2 });
  // @ts-expect-error no such kind
  await limiter.limit("oneOff", { config: { kind: "sliding window", rate: 1, period: SECOND } });
  // @ts-expect-error `start` belongs to fixed windows
  await limiter.limit("oneOff", { config: { kind: "token bucket", rate: 1, period: 1, start: 0 } });

  const result = await limiter.limit("signUp");
  if (result.ok) assert<Equal<typeof result.retryAfter, number | undefined>>();
  else assert<Equal<typeof result.retryAfter, number>>();
}

createRateLimiter({
  store: memoryStore(),
  // @ts-expect-error a limit without a rate
  limits: { broken: { kind: "token bucket", period: 1 } },
});

prismaStore(new PrismaClient({} as never));
// @ts-expect-error not a Prisma client
prismaStore({ $queryRaw: 1 });

const t = initTRPC.context<{ userId: string }>().create({
  errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
});
const rl = createRateLimitTRPC({
  t,
  limiter,
  key: ({ ctx, name }) => {
    assert<Equal<typeof name, "sendMessage" | "signUp">>();
    return ctx.userId;
  },
  authorize: ({ ctx, action }) => {
    assert<Equal<typeof action, "limit" | "reset">>();
    return ctx.userId === "admin";
  },
});

// @ts-expect-error a name that the limiter does not have
rl.rateLimited("sendMesage");

// @ts-expect-error a context without that field
createRateLimitTRPC({ t, limiter, key: ({ ctx }) => ctx.teamId });

export const appRouter = t.router({
  rateLimit: rl.router,
  nested: t.router({ limits: rl.router }),
  send: t.procedure.use(rl.rateLimited("sendMessage")).mutation(({ ctx }) => {
    assert<Equal<typeof ctx.userId, string>>();
    assert<Equal<typeof ctx.rateLimit.ok, boolean>>();
    return ctx.rateLimit.value;
  }),
});
export type AppRouter = typeof appRouter;

export function narrow(error: unknown) {
  if (!isRateLimitError(error)) return undefined;
  const { retryAfter, name } = error.data.rateLimit;
  assert<Equal<typeof retryAfter, number>>();
  assert<Equal<typeof name, string>>();
  return retryAfter;
}
