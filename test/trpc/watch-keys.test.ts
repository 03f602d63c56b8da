/** What the application's own `key` resolves to can be wrong too, and is refused where it is asked. */
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
    authorize: () => expect.fail("asked about a key that there cannot be"),
  });
  return t.createCallerFactory(rl.router);
}

/** As long as a client may ask for, and longer with what the resolver puts before it. */
const key = "k".repeat(191);

describe("a key that no row can have", () => {
  it.each([
    ["too long with what is put before it", { user: "ada" }, key],
    ["empty, as of somebody without a name", { user: "" }, undefined],
  ])("ends the stream that asked for it: %s", async (_what, context, requested) => {
    const { watch } = start()(context);
    const stream = await watch({ items: [{ name: "team", key: requested }] });
    const first = stream[Symbol.asyncIterator]().next();
    await expect(first).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });

  it("keeps nothing from those who watch with other keys", async () => {
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

  it("is refused before authorize is asked", async () => {
    const { limit } = start()({ user: "ada" });
    await expect(limit({ name: "team", key })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });
});
