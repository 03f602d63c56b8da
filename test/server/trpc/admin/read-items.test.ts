/** The lists of operators: who is limited, page by page. */
import { describe, expect, it } from "vitest";
import { HOUR, memoryStore, MINUTE, SECOND } from "../../../../server/index.js";
import { asJson, openAdmin } from "../../../support/admin-caller.js";
import { stores } from "../../../support/stores.js";

const limits = {
  bucket: { kind: "token bucket", rate: 1, period: HOUR },
  window: { kind: "fixed window", rate: 1, period: HOUR, start: 0 },
  month: { kind: "fixed window", rate: 1, period: "month", timeZone: "UTC" },
  shards: { kind: "token bucket", rate: 4, period: HOUR, shards: 4 },
  slots: { kind: "concurrency", slots: 2 },
  credits: { kind: "credits" },
} as const;

type Name = keyof typeof limits;
type Admin = ReturnType<typeof openAdmin<typeof limits>>["admin"];

/** The keys of all pages, in their order. `between` runs after each page. */
async function walk(
  admin: Admin,
  input: { name: Name; denied?: boolean; count: number },
  between: (page: number) => Promise<unknown> = async () => {},
) {
  const keys: (string | undefined)[] = [];
  let after: string | undefined;
  for (let page = 0; page < 1000; page++) {
    const { items, next } = await admin.list({ ...input, after });
    expect(items.length).toBeLessThanOrEqual(input.count);
    keys.push(...items.map(({ key }) => key));
    if (next === undefined) return keys;
    after = next;
    await between(page);
  }
  throw new Error("it does not end");
}

const numbered = (count: number, word: string) =>
  Array.from({ length: count }, (_, i) => `${word} ${String(i).padStart(3, "0")}`);

describe.each(stores)("a list on %s", (_, open) => {
  it("has the keys that are limited, and with denied: false all that have rows", async () => {
    await using opened = await open();
    const { limiter, admin } = openAdmin(opened.store, limits);
    for (const name of ["bucket", "window", "month"] as const) {
      await limiter.limit(name, { key: "limited" });
      await limiter.limit(name);
      await limiter.limit(name, { key: "free" });
      await limiter.refund(name, { key: "free" });
      await limiter.overrides.set(name, { key: "exempt", unlimited: true });
      await limiter.overrides.set(name, { key: "banned", blocked: true });
      const { items } = await admin.list({ name });
      expect(items.map(({ key = "" }) => key).toSorted()).toEqual(["", "banned", "limited"]);
      for (const { retryAfter } of items) expect(retryAfter).toBeGreaterThan(0);
      expect(items.find(({ key }) => key === "banned")!.retryAfter).toBe(8e15);
      const all = await admin.list({ name, denied: false });
      const waits = new Map(all.items.map(({ key, retryAfter }) => [key, retryAfter]));
      expect(waits.get("limited")).toBeGreaterThan(0);
      expect([waits.has("free"), waits.get("free")]).toEqual([true, undefined]);
    }
  });

  it("goes to its end with each key once, while other rows come and go", async () => {
    await using opened = await open();
    const { limiter, admin } = openAdmin(opened.store, limits);
    const stay = numbered(60, "stay");
    const go = numbered(30, "stay 0").map((key) => `${key} goes`);
    await Promise.all([...stay, ...go].map((key) => limiter.limit("bucket", { key })));
    for (const denied of [true, false]) {
      const keys = await walk(admin, { name: "bucket", denied, count: 7 }, async (page) => {
        await limiter.limit("bucket", { key: `stay 00${page} comes ${denied}` });
        if (go.length > page) await limiter.forget(go[page]!);
      });
      expect(new Set(keys).size).toBe(keys.length);
      expect(keys).toEqual(expect.arrayContaining(stay));
    }
  });

  it("has the keys whose slots are all held, page by page", async () => {
    await using opened = await open();
    const { limiter, admin } = openAdmin(opened.store, limits);
    const full = numbered(9, "full");
    for (const key of full) for (let i = 0; i < 2; i++) await limiter.enter("slots", { key });
    for (const key of numbered(9, "half")) await limiter.enter("slots", { key });
    expect(new Set(await walk(admin, { name: "slots", count: 4 }))).toEqual(new Set(full));
    expect(await walk(admin, { name: "slots", count: 3 })).toHaveLength(9);
    expect(await walk(admin, { name: "slots", count: 200 })).toHaveLength(9);
    expect(await walk(admin, { name: "slots", denied: false, count: 5 })).toHaveLength(18);
    const { items } = await admin.list({ name: "slots", count: 1 });
    expect(items[0]).toMatchObject({ key: expect.stringMatching(/^full/), value: 0 });
    expect(items[0]!.retryAfter).toBeGreaterThan(0);
    expect(items[0]!.retryAfter).toBeLessThanOrEqual(30 * SECOND);
  });

  it("is plain JSON, of each kind of limit", async () => {
    await using opened = await open();
    const { limiter, admin } = openAdmin(opened.store, limits);
    await limiter.credit("credits", { key: "ada", count: 3 });
    await limiter.charge("credits", { key: "ada", count: 4 });
    await limiter.enter("slots", { key: "ada" });
    await limiter.enter("slots", { key: "ada" });
    for (const name of ["bucket", "window", "month", "shards"] as const) {
      await limiter.charge(name, { key: "ada", count: 10 });
      await limiter.overrides.set(name, { key: "bob", blocked: true });
    }
    const answers = [
      await admin.limits(),
      await admin.key({ key: "ada" }),
      await admin.key(),
      await admin.denials(),
    ] as unknown[];
    for (const name of Object.keys(limits) as Name[]) {
      const page = await admin.list({ name });
      expect([name, page.items.map(({ key }) => key)]).toEqual([
        name,
        ["bucket", "window", "month", "shards"].includes(name) ? ["bob", "ada"] : ["ada"],
      ]);
      answers.push(page);
    }
    // `undefined` and `Infinity` are not the same after a way through JSON.
    for (const answer of answers) expect(asJson(answer)).toEqual(withoutUndefined(answer));
  });
});

/** A field that is `undefined` is absent in JSON. All else has to stay as it is. */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutUndefined(field)]));
}

describe("since when a key is limited", () => {
  it("is when it was banned, when its bucket was last written, or its oldest denial in the window", async () => {
    let now = 10;
    const { limiter, admin } = openAdmin(memoryStore(), limits, { clock: () => now });
    await limiter.limit("bucket", { key: "ada" });
    await limiter.limit("window", { key: "ada" });
    now = 20;
    await limiter.limit("window", { key: "ada" });
    now = 30;
    await limiter.limit("window", { key: "ada" });
    await limiter.limit("bucket", { key: "ada" });
    await admin.ban({ name: "bucket", key: "eve" });
    await limiter.limit("shards", { key: "ada", count: 2 });
    await limiter.charge("shards", { key: "ada", count: 9 });
    now = 40;
    const sinces = async (name: Name) =>
      (await admin.list({ name })).items.map(({ key, since }) => [key, since]);
    expect(await sinces("bucket")).toEqual([
      ["eve", 30],
      ["ada", 10],
    ]);
    expect(await sinces("window")).toEqual([["ada", 20]]);
    // Not known.
    expect(await sinces("shards")).toEqual([["ada", undefined]]);

    // A denial of the window before says nothing of this one.
    now = HOUR + 5;
    await limiter.limit("window", { key: "ada" });
    expect(await sinces("window")).toEqual([["ada", undefined]]);
    now = HOUR + MINUTE;
    await limiter.limit("window", { key: "ada" });
    expect(await sinces("window")).toEqual([["ada", HOUR + MINUTE]]);
  });
});
