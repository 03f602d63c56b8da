/** The middleware and the router of a limiter that is switched off, over HTTP. */
import { initTRPC } from "@trpc/server";
import { expect, it, onTestFinished } from "vitest";
import { createRateLimiter, MINUTE, pgStore } from "../../../server/index.js";
import {
  createRateLimitTRPC,
  formatRateLimitError,
  rateLimitResponseMeta,
} from "../../../server/trpc/index.js";
import { connectPool } from "../../support/connect-pool.js";
import { freePort } from "../../support/free-port.js";
import { startServer } from "../../support/http.js";

const few = { kind: "token bucket", rate: 1, period: MINUTE } as const;
const limits = {
  few,
  planned: { kind: "token bucket", period: MINUTE, plans: { free: { rate: 1 }, none: "none" } },
  slots: { kind: "concurrency", slots: 1 },
} as const;

async function start() {
  // Nothing listens there.
  const pool = connectPool(`postgresql://127.0.0.1:${await freePort()}/none`);
  const limiter = createRateLimiter({
    store: pgStore(pool),
    limits,
    plans: ["free", "none"],
    plan: (): "free" => {
      throw new Error("the plan was asked");
    },
    enabled: false,
    logger: false,
  });
  const t = initTRPC.create({
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
  });
  const rl = createRateLimitTRPC({ t, limiter, key: () => "ada", authorize: () => true });
  const router = t.router({
    rateLimit: rl.router,
    one: t.procedure.use(rl.rateLimited("few")).query(async ({ ctx }) => {
      await ctx.rateLimit.settle(20);
      return ctx.rateLimit;
    }),
    failing: t.procedure
      .use(rl.rateLimited("few", { on: "success" }))
      .query(() => Promise.reject(new Error("its own"))),
    both: t.procedure.use(rl.rateLimited(["few", "planned"])).query(({ ctx }) => ctx.rateLimit),
    slot: t.procedure.use(rl.rateLimited(["few", "slots"])).query(({ ctx }) => ctx.rateLimit),
    first: t.procedure
      .use(rl.rateLimited.first(["few", "planned"]))
      .query(({ ctx }) => ctx.rateLimit),
  });
  const server = await startServer(router, () => ({}), { responseMeta: rateLimitResponseMeta });
  onTestFinished(async () => {
    await server.kill();
    await pool.end();
  });
  return server;
}

const off = { ok: true, disabled: true };

it("passes calls of procedures, which find out that the limits are off", async () => {
  const client = (await start()).connect({ stream: false });
  for (let i = 0; i < 3; i++) {
    expect(await client.one.query()).toMatchObject(off);
    expect(await client.both.query()).toMatchObject({ ...off, results: [off, off] });
    expect(await client.slot.query()).toMatchObject({ ...off, results: [off, off] });
    expect(await client.first.query()).toMatchObject({ ...off, paid: [] });
    await expect(client.failing.query()).rejects.toThrow("its own");
  }
});

it("shows full buckets to pages, and tells them nothing else", async () => {
  const client = (await start()).connect({ stream: false });
  expect(await client.rateLimit.status.query({ name: "few", count: 9 })).toMatchObject({
    value: 1,
  });
  expect(await client.rateLimit.status.query({ name: "planned" })).toMatchObject({ value: 1 });
  const passed = { ok: true, value: 1, ts: expect.any(Number) as number };
  for (let i = 0; i < 3; i++) {
    expect(await client.rateLimit.check.query({ name: "few" })).toEqual(passed);
    expect(await client.rateLimit.limit.mutate({ name: "few" })).toEqual(passed);
  }
  await client.rateLimit.reset.mutate({ name: "few" });
});

it("has no header fields, because no tokens are counted", async () => {
  const { url } = await start();
  const { status, headers } = await fetch(`${url}/one`);
  expect([status, headers.get("RateLimit")]).toEqual([200, null]);
});
