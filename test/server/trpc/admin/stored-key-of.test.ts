/** Operators and keys that are hashed in the table: what a list shows is not hashed again. */
import { createHmac } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { DAY, HOUR, memoryStore, MINUTE } from "../../../../server/index.js";
import { createRateLimitTRPC } from "../../../../server/trpc/index.js";
import { initTRPC } from "@trpc/server";
import { openAdmin, openAdminOn } from "../../../support/admin-caller.js";
import { stores } from "../../../support/stores.js";

const limits = {
  bucket: { kind: "token bucket", rate: 2, period: HOUR, holds: true, usage: true },
  slots: { kind: "concurrency", slots: 1 },
} as const;
const hashKey = (key: string) => createHmac("sha256", "secret").update(key).digest("base64url");
/** Two answers at different times are the same. */
const clock = () => 7 * DAY;
const mail = "ada@example.com";
const bucket = { name: "bucket", key: hashKey(mail), stored: true } as const;

describe.each(stores)("where keys are hashed, on %s", (_, open) => {
  it("acts on the key that a list gave, and on the one that a person types", async () => {
    const { limiter, heard, admin } = await openAdminOn(open, limits, { hashKey, clock });
    for (let call = 0; call < 3; call++) await limiter.limit("bucket", { key: mail });
    expect(await admin.limits()).toMatchObject({ hashed: true });

    const { items } = await admin.list({ name: "bucket" });
    expect(items.map(({ key }) => key)).toEqual([hashKey(mail)]);
    const key = items[0]!.key!;
    const banned = await admin.ban({ name: "bucket", key, stored: true });
    expect(banned.item.key).toBe(key);
    expect(await limiter.limit("bucket", { key: mail })).toMatchObject({
      ok: false,
      retryAfter: banned.item.retryAfter,
    });
    expect(heard.find(({ action }) => action === "ban")).toMatchObject({ key });

    // The same bucket, found by what people know.
    const found = await admin.key({ key: mail });
    expect(found).toEqual(await admin.key({ key, stored: true }));
    expect(found.limits[0]!.item.override).toMatchObject({ blocked: true, key });
    await admin.clear({ name: "bucket", key: mail });
    await admin.reset({ name: "bucket", key, stored: true });
    expect(await limiter.limit("bucket", { key: mail })).toMatchObject({ ok: true });
    expect(heard.find(({ action }) => action === "clear")).toMatchObject({ key: mail });
  });

  it("acts on the slots of a key that a list gave", async () => {
    const { limiter, admin } = await openAdminOn(open, limits, { hashKey });
    await limiter.enter("slots", { key: mail });
    const { items } = await admin.list({ name: "slots" });
    expect(items).toMatchObject([{ key: hashKey(mail), value: 0 }]);
    await admin.reset({ name: "slots", key: items[0]!.key, stored: true });
    expect(await limiter.check("slots", { key: mail })).toMatchObject({ ok: true });
  });

  it("shows no key that people know: in lists, keys, and denials", async () => {
    const { limiter, admin } = await openAdminOn(open, limits, { hashKey });
    const hold = { for: DAY, then: "keep" } as const;
    await limiter.limit("bucket", {
      key: mail,
      count: 2,
      once: "invoice 7",
      hold: { ...hold, for: HOUR },
    });
    await limiter.limit("bucket", { key: mail });
    const shown = JSON.stringify([
      await admin.list({ name: "bucket" }),
      await admin.key({ key: mail }),
      await admin.denials(),
      await admin.ban({ ...bucket }),
    ]);
    expect(shown).toContain(hashKey(mail));
    expect(shown).not.toMatch(/ada@|invoice/);
    const { items } = await admin.denials();
    expect(items).toMatchObject([{ name: "bucket", key: hashKey(mail) }]);
  });
});

it("tells an open page within a tick, although only the hash of its key is known", async () => {
  const { limiter, admin } = openAdmin(memoryStore(), limits, { hashKey });
  const t = initTRPC.create();
  // It does not read again by itself before the end of the test.
  const rl = createRateLimitTRPC({ t, limiter, key: () => mail, interval: HOUR });
  const page = t.router({ rateLimit: rl.router }).createCaller({});
  const stop = new AbortController();
  await limiter.limit("bucket", { key: mail, count: 2 });
  const watched = await t
    .createCallerFactory(t.router({ rateLimit: rl.router }))({}, { signal: stop.signal })
    .rateLimit.watch({ items: [{ name: "bucket" }] });
  const seen: unknown[] = [];
  const reading = (async () => {
    for await (const { value, config } of watched) seen.push([value, config.kind]);
  })();
  const until = async (count: number) => {
    for (let i = 0; i < 100 && seen.length < count; i++) await setTimeout(20);
  };
  await until(1);
  await admin.reset(bucket);
  await until(2);
  await admin.ban(bucket);
  await until(3);
  await admin.raise({ ...bucket, times: 2 });
  await admin.clear({ ...bucket, only: "blocked" });
  await until(4);
  stop.abort();
  await reading.catch(() => {});
  expect(seen).toEqual([
    [0, "token bucket"],
    [2, "token bucket"],
    [0, "fixed window"],
    [4, "token bucket"],
  ]);
  expect(await page.rateLimit.check({ name: "bucket" })).toMatchObject({ ok: true });
});

it("refuses a key that no table can have, hashed or not, without the key in the error", async () => {
  const { admin } = openAdmin(memoryStore(), limits, { hashKey });
  for (const key of ["", "a\0b", "\ud800", "x".repeat(192)]) {
    for (const stored of [true, false]) {
      await expect(admin.key({ key, stored })).rejects.toMatchObject({ code: "BAD_REQUEST" });
      await expect(admin.ban({ name: "bucket", key, stored })).rejects.toMatchObject({
        code: "BAD_REQUEST",
        message: expect.not.stringContaining("xxx"),
      });
    }
  }
});

it("says nothing of why hashKey fails", async () => {
  const failing = () => {
    throw new Error(`the secret of ${MINUTE}`);
  };
  const { admin } = openAdmin(memoryStore(), limits, { hashKey: failing });
  await expect(admin.ban({ name: "bucket", key: mail })).rejects.toMatchObject({
    code: "INTERNAL_SERVER_ERROR",
    message: expect.not.stringContaining("secret"),
  });
});
