import { initTRPC } from "@trpc/server";
import { HOUR } from "trpc-rate-limit";
import { RateLimitAdmin, type RateLimitAdminProps } from "trpc-rate-limit/admin";
import "trpc-rate-limit/admin.css";
import { createRateLimiter, memoryStore } from "trpc-rate-limit/server";
import { createRateLimitTRPC } from "trpc-rate-limit/trpc";

// The limit
export const limiter = createRateLimiter({
  store: memoryStore(),
  limits: { apiCalls: { kind: "token bucket", rate: 100, period: HOUR, usage: true } },
  overrides: true,
});

// The procedure
interface Context {
  user: { name: string; isSupport: boolean };
}
const t = initTRPC.context<Context>().create();
const rl = createRateLimitTRPC({
  t,
  limiter,
  key: ({ ctx }) => ctx.user.name,
  admin: {
    authorize: ({ ctx }) => ctx.user.isSupport,
    // Who did it, for `onDecision`.
    actor: ({ ctx }) => ctx.user.name,
  },
});
export const router = t.router({ rateLimit: rl.router, rateLimitAdmin: rl.admin });

// The component
export function Support({ client }: Pick<RateLimitAdminProps, "client">) {
  return <RateLimitAdmin client={client} />;
}
