import { initTRPC } from "@trpc/server";
import {
  createRateLimiter,
  createRateLimitTRPC,
  formatRateLimitError,
  HOUR,
  memoryStore,
} from "trpc-rate-limit/server";

const limiter = createRateLimiter({
  store: memoryStore(),
  limits: { few: { kind: "token bucket", rate: 1, period: HOUR } },
});
const t = initTRPC.context<{ userId: string }>().create({
  errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
});
const rl = createRateLimitTRPC({ t, limiter, key: ({ ctx }) => ctx.userId });
const appRouter = t.router({
  rateLimit: rl.router,
  send: t.procedure.use(rl.rateLimited("few")).mutation(() => "granted"),
});
export type AppRouter = typeof appRouter;

const caller = t.createCallerFactory(appRouter)({ userId: "ann" });
const first = await caller.send();
const snapshot = await caller.rateLimit.status({ name: "few" });
const second = await caller.send().catch((error: Error) => error);
const isDenied = snapshot.value < 1 && second instanceof Error && second.message.includes("few");
console.log(`${first}, then ${isDenied ? "denied" : String(second)}`);
