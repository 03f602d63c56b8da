/** The key that the application's own resolver returns can be invalid too. */
import { initTRPC } from "@trpc/server";
import { describe, expect, it } from "vitest";
import { createRateLimiter, createRateLimitTRPC, memoryStore, MINUTE } from "../../server/index.js";

function start() {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { team: { kind: "token bucket", rate: 9, period: MINUTE } },
  });
  const t = initTRPC.context<{ user: string }>().create();
  const rl = createRateLimitTRPC({
    t,
    limiter,
    interval: Infinity,
    key: ({ ctx, requested }) => (requested === undefined ? ctx.user : `team ${requested}`),
    authorize: () => expect.fail("authorize was called with an invalid key"),
  });
  return t.createCallerFactory(rl.router);
}

/** The longest key that a client may request. It is too long with the prefix of the resolver. */
const key = "k".repeat(191);

describe("an invalid key", () => {
  it.each([
    ["too long with its prefix", { user: "ada" }, key],
    ["empty, for a user without a name", { user: "" }, undefined],
  ])("ends the stream that requested it: %s", async (_what, context, requested) => {
    const { watch } = start()(context);
    const stream = await watch({ items: [{ name: "team", key: requested }] });
    const first = stream[Symbol.asyncIterator]().next();
    await expect(first).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });

  it("does not affect streams with other keys", async () => {
    const createCaller = start();
    const connection = new AbortController();
    const { watch } = createCaller({ user: "mallory" }, { signal: connection.signal });
    const theirs = (await watch({ items: [{ name: "team", key }] }))[Symbol.asyncIterator]();
    void theirs.next().catch(() => {});
    const stream = await createCaller({ user: "ada" }).watch({ items: [{ name: "team" }] });
    const { value } = await stream[Symbol.asyncIterator]().next();
    expect(value).toMatchObject({ name: "team", value: 9 });
    connection.abort();
  });

  it("is rejected before authorize is called", async () => {
    const { limit } = start()({ user: "ada" });
    await expect(limit({ name: "team", key })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });
});
