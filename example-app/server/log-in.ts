/** A log-in whose failures cost tokens. A success costs nothing, and forgets the failures. */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { TRPCError } from "@trpc/server";
import { z } from "zod";
import { logInKey } from "./log-in-key.js";
import type { App } from "./trpc.js";

const hash = promisify<string, Buffer, number, Buffer>(scrypt);
const HASH_LENGTH = 64;

interface Account {
  salt: Buffer;
  hash: Buffer;
}

/** As a table of accounts would hold it: no password, but what `scrypt` makes of one. */
async function createAccount(password: string): Promise<Account> {
  const salt = randomBytes(16);
  return { salt, hash: await hash(password, salt, HASH_LENGTH) };
}

/** Takes as long for every password, and for an account that does not exist. */
async function isPassword(account: Account | undefined, password: string): Promise<boolean> {
  const salt = account?.salt ?? Buffer.alloc(16);
  const given = await hash(password, salt, HASH_LENGTH);
  return timingSafeEqual(given, account?.hash ?? Buffer.alloc(HASH_LENGTH));
}

export function logInRouter({ t, rl }: App) {
  const accounts = createAccount("open sesame").then((demo) => new Map([["demo", demo]]));

  return t.router({
    attempt: t.procedure
      .input(z.object({ account: z.string().max(64), password: z.string().max(200) }))
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
