/** The rights that the example of the guide to a support page gives people. */
import { expect, it } from "vitest";
import type { RateLimiter } from "../../server/index.js";
import { importBlock } from "../support/docs-module.js";

interface Change {
  name: "sendMessage";
  key?: string;
  all?: boolean;
}
interface Page {
  appRouter: {
    createCaller(context: { userId: string; role: "user" | "support" | "lead" }): {
      rateLimitAdmin: Record<"ban" | "clear" | "exempt", (input: Change) => Promise<unknown>> & {
        limits(): Promise<{ actions: string[] }>;
      };
    };
  };
  limiter: RateLimiter;
}

/** The files that the page leaves out, with a store in memory. */
const FILES = `
import { initTRPC } from "@trpc/server";
import { createRateLimiter, memoryStore, MINUTE } from "trpc-rate-limit/server";
export const limiter = createRateLimiter({
  store: memoryStore(),
  limits: { sendMessage: { kind: "token bucket", rate: 10, period: MINUTE } },
  overrides: true,
});
const t = initTRPC.context<{ userId: string; role: string }>().create();
`;

it("lets support ban one user, and a lead alone all of them", async () => {
  const { appRouter, limiter } = await importBlock<Page>(
    "docs/guides/a-support-page.md",
    "server/router.ts",
    (code) => FILES + code.replace(/^import .* from "\.\/(?:limits|trpc)\.js";$/gm, ""),
  );
  const adminOf = (role: "user" | "support" | "lead") =>
    appRouter.createCaller({ userId: `the ${role}`, role }).rateLimitAdmin;
  const [user, support, lead] = [adminOf("user"), adminOf("support"), adminOf("lead")];
  const one = { name: "sendMessage", key: "ada" } as const;
  const all = { name: "sendMessage", all: true } as const;

  expect((await support.limits()).actions).toEqual(["view", "ban", "clear"]);
  await support.ban(one);
  expect((await limiter.limit("sendMessage", { key: "ada" })).ok).toBe(false);
  await support.clear(one);
  for (const refused of [
    user.ban(one),
    support.exempt(one),
    support.ban(all),
    support.clear(all),
  ]) {
    await expect(refused).rejects.toMatchObject({ code: "FORBIDDEN" });
  }
  expect((await limiter.limit("sendMessage", { key: "ada" })).ok).toBe(true);
  await lead.ban(all);
  expect((await limiter.limit("sendMessage", { key: "ada" })).ok).toBe(false);
});
