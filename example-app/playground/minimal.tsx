import { useState } from "react";
import { MINUTE } from "trpc-rate-limit";
import { z } from "zod";
import { RateLimitCountdown, useRateLimitedMutation, useTRPC } from "../shared/page/trpc.js";
import type { App } from "../shared/server/trpc.js";

// The limit
export const limits = {
  playground: { kind: "token bucket", rate: 30, period: MINUTE, capacity: 10 },
} as const;

// The procedure
export const takeTokens = ({ t, rl }: App) =>
  t.procedure
    .input(z.object({ count: z.number().min(1).max(10_000) }))
    .use(rl.rateLimited("playground", { count: ({ input }) => input.count }))
    .mutation(({ ctx }) => ctx.rateLimit.value);

// The component
export function Take() {
  const trpc = useTRPC();
  const [count, setCount] = useState(1);
  const take = useRateLimitedMutation("playground", {
    ...trpc.playground.take.mutationOptions(),
    count,
  });
  return (
    <>
      <label>
        Tokens
        <input
          type="number"
          min={1}
          value={count}
          onChange={({ target }) => setCount(+target.value)}
        />
      </label>
      <button disabled={!take.canMutate} onClick={() => take.mutate({ count, reserve: false })}>
        Call
      </button>
      <p>
        <span>
          {`${take.limit.value ?? "…"} of ${take.limit.config?.capacity ?? "…"} tokens left. `}
        </span>
        <RateLimitCountdown retryAt={take.retryAt} />
      </p>
    </>
  );
}
