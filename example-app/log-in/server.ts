/** A log-in whose failures cost tokens. A success costs nothing, and forgets the failures. */
import { TRPCError } from "@trpc/server";
import { z } from "zod";
import type { App } from "../shared/server/trpc.js";
import { createAccounts, isPassword } from "./accounts.js";
import { logInKey } from "./limits.js";

export function logInRouter({ t, rl }: App) {
  const accounts = createAccounts();

  return t.router({
    attempt: t.procedure
      .input(z.object({ account: z.string().max(64), password: z.string().max(200) }))
      // Limit: only a failure takes a token.
      .use(
        rl.rateLimited("logIn", {
          key: ({ ctx, input }) => logInKey(input.account, ctx.visitor),
          on: "error",
          resetOnSuccess: true,
        }),
      )
      .mutation(async ({ input: { account, password } }) => {
        if (await isPassword((await accounts).get(account), password)) return { account };
        throw new TRPCError({ code: "UNAUTHORIZED", message: "Wrong account or password" });
      }),
  });
}
