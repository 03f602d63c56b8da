import { MINUTE } from "trpc-rate-limit";
import { z } from "zod";
import { RateLimitCountdown, useRateLimitedMutation, useTRPC } from "../shared/page/trpc.js";
import type { App } from "../shared/server/trpc.js";

// The limit
export const limits = {
  signUp: { kind: "fixed window", rate: 100, period: 5 * MINUTE, start: 0 },
} as const;

// The procedure
export const create = ({ t, rl, prisma }: App) =>
  t.procedure
    .input(z.object({ name: z.string().trim().max(40) }))
    // One bucket for all: see `key` in shared/server/trpc.ts. A sign-up that fails does not count.
    .use(rl.rateLimited("signUp", { on: "success" }))
    .mutation(({ input }) => prisma.signUp.create({ data: input }));

// The component
export function SignUp({ name }: { name: string }) {
  const trpc = useTRPC();
  const signUp = useRateLimitedMutation("signUp", trpc.signUps.create.mutationOptions());
  const { value, config } = signUp.limit;
  return (
    <>
      <button disabled={!signUp.canMutate} onClick={() => signUp.mutate({ name })}>
        Sign up
      </button>
      <p>
        <span>{`${value ?? "…"} of ${config?.rate ?? "…"} accounts left. `}</span>
        <span>{!signUp.canMutate && "The next window starts in "}</span>
        <RateLimitCountdown retryAt={signUp.retryAt} />
      </p>
    </>
  );
}
