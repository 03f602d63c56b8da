/** What operators can see and do through `rl.admin`. */
import { initTRPC } from "@trpc/server";
import { describe, expect, it } from "vitest";
import {
  createRateLimiter,
  type DecisionEvent,
  HOUR,
  memoryStore,
  MINUTE,
} from "../../../../server/index.js";
import { createRateLimitTRPC } from "../../../../server/trpc/index.js";

function start() {
  const heard: DecisionEvent[] = [];
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { send: { kind: "token bucket", rate: 2, period: MINUTE } },
    overrides: true,
    onDecision: (event) => void heard.push(event),
  });
  const t = initTRPC.context<{ user: string }>().create();
  const rl = createRateLimitTRPC({
    t,
    limiter,
    admin: { authorize: ({ ctx }) => ctx.user === "ada", actor: ({ ctx }) => ctx.user },
  });
  const router = t.router({ rateLimitAdmin: rl.admin });
  return { limiter, heard, admin: router.createCaller({ user: "ada" }).rateLimitAdmin };
}

describe("an operator", () => {
  it("bans a caller for an hour, and sees the ban", async () => {
    const { limiter, heard, admin } = start();
    const { item } = await admin.ban({ name: "send", key: "eve" });
    expect(item.retryAfter).toBeGreaterThan(HOUR - MINUTE);
    expect(await limiter.limit("send", { key: "eve" })).toMatchObject({ ok: false });
    const { items } = await admin.list({ name: "send" });
    expect(items).toMatchObject([{ key: "eve", override: { blocked: true } }]);
    expect(heard[0]).toMatchObject({
      action: "ban",
      name: "send",
      key: "eve",
      by: "ada",
      result: { ok: false },
    });
    expect(await admin.limits()).toMatchObject({
      actions: ["view", "ban", "exempt", "raise", "clear", "reset"],
      limits: [{ name: "send", overrides: true }],
    });
  });
});
