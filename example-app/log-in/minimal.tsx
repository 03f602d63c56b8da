import { TRPCError } from "@trpc/server";
import { MINUTE, SECOND } from "trpc-rate-limit";
import { z } from "zod";
import { RateLimitCountdown, useRateLimitedMutation, useTRPC } from "../shared/page/trpc.js";
import type { App } from "../shared/server/trpc.js";
import { createAccounts, isPassword } from "./accounts.js";
import { logInKey } from "./limits.js";

// The limit
export const limits = {
  logIn: { kind: "token bucket", rate: 5, period: MINUTE, blockFor: [30 * SECOND, MINUTE] },
} as const;

// The procedure
const accounts = createAccounts();
export const attempt = ({ t, rl }: App) => {
  const key = ({ ctx, input }: { ctx: { visitor: string }; input: { account: string } }) =>
    logInKey(input.account, ctx.visitor);
  return t.procedure
    .input(z.object({ account: z.string().max(64), password: z.string().max(200) }))
    .use(rl.rateLimited("logIn", { key, on: "error", resetOnSuccess: true }))
    .mutation(async ({ input: { account, password } }) => {
      if (await isPassword((await accounts).get(account), password)) return { account };
      throw new TRPCError({ code: "UNAUTHORIZED", message: "Wrong account or password" });
    });
};

// The component
export function LogIn() {
  const trpc = useTRPC();
  const options = trpc.logIn.attempt.mutationOptions();
  const logIn = useRateLimitedMutation("logIn", { ...options, key: "demo", on: "error" });
  return (
    <form
      action={(form) => logIn.mutate({ account: "demo", password: form.get("password") as string })}
    >
      <input name="password" type="password" aria-label="Password" />
      <button disabled={!logIn.canMutate}>Log in</button>
      <p role="status">
        <span>{logIn.isSuccess ? "Welcome. " : `${logIn.limit.value ?? "…"} attempts left. `}</span>
        <RateLimitCountdown retryAt={logIn.retryAt} />
      </p>
    </form>
  );
}
