import { MINUTE } from "trpc-rate-limit";
import { createRateLimitTRPC, SHARED_BUCKET } from "trpc-rate-limit/trpc";
import { useRateLimit } from "../shared/page/trpc.js";
import type { App } from "../shared/server/trpc.js";

// The limit
export const limits = {
  sendMessage: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
  signUp: { kind: "fixed window", rate: 100, period: 5 * MINUTE, start: 0 },
} as const;

// The procedure
export function createProcedures({ t, limiter }: Pick<App, "t" | "limiter">) {
  const rl = createRateLimitTRPC({
    t,
    limiter,
    // A visitor, by the cookie of the request, has a bucket. Sign-ups have one for all visitors.
    key: ({ ctx, name }) => (name === "signUp" ? SHARED_BUCKET : ctx.visitor),
  });
  return {
    rateLimit: rl.router,
    send: t.procedure.use(rl.rateLimited("sendMessage")).mutation(() => "sent"),
    signUp: t.procedure.use(rl.rateLimited("signUp")).mutation(() => "signed up"),
  };
}

// The component
export function WhatIsLeft() {
  const messages = useRateLimit("sendMessage");
  const signUps = useRateLimit("signUp");
  return (
    <p>
      {`You have ${messages.value ?? "…"} messages. ` +
        `All visitors have ${signUps.value ?? "…"} accounts.`}
    </p>
  );
}
