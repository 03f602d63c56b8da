/** `hashKey` keeps keys out of the table, and changes nothing else. */
import { createHmac } from "node:crypto";
import { initTRPC } from "@trpc/server";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { describe, expect, it } from "vitest";
import { usedAt } from "../../../../core/rows/reading.js";
import { createManualClock } from "../../../../core/testing.js";
import {
  changeDigest,
  createRateLimiter,
  type DecisionEvent,
  HOUR,
  memoryStore,
  MINUTE,
  rateLimitHeaders,
  rateLimitResponse,
  type RateLimitStore,
  SECOND,
} from "../../../../server/index.js";
import { createRateLimitTRPC, rateLimitResponseMeta } from "../../../../server/trpc/index.js";
import { stores } from "../../../support/stores.js";

const limits = {
  bucket: { kind: "token bucket", rate: 3, period: MINUTE },
  window: { kind: "fixed window", rate: 3, period: HOUR },
  sharded: { kind: "token bucket", rate: 30, period: MINUTE, shards: 3 },
} as const;
const names = ["bucket", "window", "sharded"] as const;

const hashKey = (key: string) => createHmac("sha256", "secret").update(key).digest("base64url");
const ADA = "ada@example.com";

function createLimiter(store: RateLimitStore, options: object = {}) {
  return createRateLimiter({ store, limits, clock: createManualClock(), hashKey, ...options });
}

async function keysIn(store: RateLimitStore): Promise<Set<string>> {
  const keys = new Set<string>();
  for await (const name of store.names!()) {
    for (const { key } of await store.list!(name, undefined, 99)) keys.add(key);
  }
  return keys;
}

describe.each(stores)("hashKey on %s", (_name, open) => {
  it("keeps the caller's key out of the table, whatever the call", async () => {
    await using opened = await open();
    const limiter = createLimiter(opened.store);
    for (const name of names) {
      const result = await limiter.limit(name, { key: ADA });
      await limiter.check(name, { key: ADA });
      await limiter.refund(name, { key: ADA, result });
      await limiter.acquire(name, { key: ADA });
      await limiter.limitAll([{ name, key: ADA }]);
    }
    await limiter.limit("inline", { key: ADA, config: limits.window });
    await limiter.transaction(({ limit }) => limit("bucket", { key: ADA }));
    expect(await keysIn(opened.store)).toEqual(new Set([hashKey(ADA)]));
    await limiter.limit("bucket");
    expect(await keysIn(opened.store)).toEqual(new Set([hashKey(ADA), ""]));
  });

  it("makes one bucket of a key for all methods and processes", async () => {
    await using opened = await open();
    const limiter = createLimiter(opened.store);
    const other = createLimiter(opened.peer);
    const stranger = createLimiter(opened.store, { hashKey: (key: string) => `other ${key}` });
    await limiter.limit("bucket", { key: ADA });
    await other.limit("bucket", { key: ADA });
    expect((await limiter.getValue("bucket", { key: ADA })).value).toBe(1);
    await limiter.refund("bucket", { key: ADA });
    expect((await other.check("bucket", { key: ADA })).value).toBe(1);
    const both = { name: "bucket", key: ADA } as const;
    expect(await other.limitAll([both, both])).toMatchObject({ ok: true });
    expect(await limiter.limit("bucket", { key: ADA })).toMatchObject({ ok: false });
    expect(await stranger.limit("bucket", { key: ADA })).toMatchObject({ ok: true });
    await limiter.reset("bucket", { key: ADA });
    expect((await other.getValue("bucket", { key: ADA })).value).toBe(3);
  });

  it("prunes, and derives the windows of the rows from their own keys", async () => {
    await using opened = await open();
    const clock = createManualClock();
    const limiter = createLimiter(opened.store, { clock });
    const plain = createRateLimiter({ store: opened.store, limits, clock });
    await limiter.limit("window", { key: ADA, count: 2 });
    const value = await limiter.getValue("window", { key: ADA });
    expect(value).toEqual(await plain.getValue("window", { key: hashKey(ADA) }));
    expect((await limiter.list("window")).items).toEqual([
      { key: hashKey(ADA), ...value, now: clock() },
    ]);
    clock.set(value.ts + HOUR + MINUTE - 1);
    expect(await limiter.prune()).toBe(0);
    clock.advance(1);
    expect(await limiter.prune()).toBe(1);
  });
});

describe("hashKey", () => {
  it("leaves the caller's key in events and digests", async () => {
    const events: DecisionEvent[] = [];
    const limiter = createLimiter(memoryStore() as RateLimitStore, {
      onDecision: (event: DecisionEvent) => void events.push(event),
    });
    const changed: string[] = [];
    limiter.onChange((digest) => void changed.push(digest));
    await limiter.limit("bucket", { key: ADA });
    await limiter.limitAll([{ name: "window", key: ADA }]);
    await limiter.transaction(({ limit }) => limit("bucket", { key: ADA }));
    expect(events.map(({ key }) => key)).toEqual([ADA, ADA, ADA]);
    expect(changed).toEqual(["bucket", "window", "bucket"].map((name) => changeDigest(name, ADA)));
  });

  it("is called once for a key in use, and never for the shared bucket", async () => {
    const called: string[] = [];
    const limiter = createLimiter(memoryStore() as RateLimitStore, {
      hashKey(key: string) {
        called.push(key);
        return hashKey(key);
      },
    });
    for (let i = 0; i < 5; i++) {
      await limiter.limit("bucket", { key: ADA });
      await limiter.getValue("bucket", { key: ADA });
      await limiter.limit("bucket");
    }
    expect(called).toEqual([ADA]);
  });

  it.each([
    ["not a string", 7, "be a string"],
    ["a promise", Promise.resolve("k"), "be a string, and not a promise"],
    ["undefined", undefined, "be a string"],
    ["empty", "", "not be empty"],
    ["too long", "secret".repeat(40), "have at most 191 characters (it has 240)"],
    ["no text for a database", "secret\0", "contain no NUL character"],
  ])("fails the call, and quotes no key, if its result is %s", async (_what, result, problem) => {
    const store = memoryStore() as RateLimitStore;
    const limiter = createLimiter(store, {
      hashKey: (key: string) => (key === ADA ? result : key),
    });
    const message = `hashKey must return a valid key: it must ${problem}`;
    const error = { name: "RateLimitConfigError", option: "hashKey", message };
    const calls = [
      limiter.limit("bucket", { key: "bob" }),
      limiter.limit("bucket", { key: ADA }),
      limiter.limit("inline", { key: ADA, config: limits.bucket }),
      limiter.forget(ADA),
    ];
    const settled = await Promise.allSettled(calls);
    expect(settled.map(({ status }) => status === "fulfilled")).toEqual([
      true,
      false,
      false,
      false,
    ]);
    for (const call of calls.slice(1)) await expect(call).rejects.toMatchObject(error);
    expect(await keysIn(store)).toEqual(new Set(["bob"]));
  });

  it("fails only the call whose key it throws for, and keeps the reason as the cause", async () => {
    const store = memoryStore() as RateLimitStore;
    const reason = new Error("no secret for ada");
    const limiter = createLimiter(store, {
      hashKey(key: string) {
        if (key === ADA) throw reason;
        return key;
      },
    });
    const [ada, bob] = await Promise.allSettled(
      [ADA, "bob"].map((key) => limiter.limit("bucket", { key })),
    );
    expect(bob).toMatchObject({ status: "fulfilled" });
    expect(ada).toMatchObject({
      reason: {
        name: "RateLimitConfigError",
        option: "hashKey",
        message: "hashKey must return a valid key: it must not throw",
        cause: reason,
      },
    });
  });

  it("gets no key that is not valid", async () => {
    const limiter = createLimiter(memoryStore() as RateLimitStore, { hashKey: () => "one" });
    for (const key of ["", "k".repeat(192), "a\0b"]) {
      await expect(limiter.limit("bucket", { key })).rejects.toMatchObject({ reason: "key" });
    }
  });

  it("keeps keys and ids that are not valid out of errors", async () => {
    const limiter = createLimiter(memoryStore() as RateLimitStore, { overrides: true });
    const ids = [`${ADA}${"m".repeat(190)}`, `${ADA}\0`, `${ADA}\uD83D`, 4242 as never];
    const errors = ids.flatMap((key) => [
      limiter.limit("bucket", { key }),
      limiter.limit("bucket", { key: "bob", once: key }),
      limiter.limitAll([{ name: "bucket", key }]),
      limiter.getValue("bucket", { key }),
      limiter.charge("bucket", { key }),
      limiter.reset("bucket", { key }),
      limiter.forget(key),
      limiter.overrides.set("bucket", { key, blocked: true }),
    ]);
    for (const error of errors) await expect(error).rejects.toThrow(/^(?!.*(ada|4242))/s);
  });

  it("that gives two keys one bucket is taken into account by limitAll", async () => {
    const limiter = createLimiter(memoryStore() as RateLimitStore, {
      hashKey: (key: string) => key.toLowerCase(),
    });
    const items = ["Ada", "ada"].map((key) => ({ name: "bucket" as const, key, count: 2 }));
    await expect(limiter.limitAll(items)).rejects.toMatchObject({ reason: "unsatisfiable" });
  });
});

describe("the windows that clients are told of go by the stored key", () => {
  const setUp = () => {
    const clock = createManualClock();
    const store = memoryStore() as RateLimitStore;
    const limiter = createLimiter(store, { clock });
    /** Whole seconds until the window of a stored key ends. */
    const secondsLeft = (key: string) => {
      const plain = createRateLimiter({ store, limits, clock });
      const { ts } = usedAt(null, plain.configOf("window", { key }), clock());
      return Math.ceil((ts + HOUR - clock()) / SECOND);
    };
    return { clock, limiter, secondsLeft };
  };

  it("in the header fields and the response of a result", async () => {
    const { limiter, secondsLeft } = setUp();
    const options = { limiter, name: "window", key: ADA } as const;
    expect(secondsLeft(hashKey(ADA))).not.toBe(secondsLeft(ADA));
    const granted = await limiter.limit("window", { key: ADA, count: 3 });
    expect(rateLimitHeaders(granted, options)["RateLimit"]).toBe(
      `"window";r=0;t=${secondsLeft(hashKey(ADA))}`,
    );
    const denied = await limiter.limit("window", { key: ADA });
    const { config } = (await rateLimitResponse(denied, options).json()) as { config: object };
    const [snapshot] = await limiter.snapshots([{ name: "window", key: ADA }]);
    expect(config).toEqual(snapshot!.config);
    const thrown = limiter.limit("window", { key: ADA, throws: true });
    await expect(thrown).rejects.toMatchObject({ data: { rateLimit: { config } } });
  });

  it("in the header fields of tRPC, also for a config of the call", async () => {
    const { limiter, secondsLeft } = setUp();
    const t = initTRPC.create();
    const rl = createRateLimitTRPC({ t, limiter, key: () => ADA });
    const inline = { kind: "fixed window", rate: 30, period: HOUR } as const;
    const router = t.router({
      own: t.procedure.use(rl.rateLimited("window")).query(() => "done"),
      tier: t.procedure.use(rl.rateLimited("window", { config: inline })).query(() => "done"),
    });
    for (const [path, left] of [
      ["own", 2],
      ["tier", 28],
    ] as const) {
      const response = await fetchRequestHandler({
        endpoint: "",
        req: new Request(`http://localhost/${path}`),
        router,
        responseMeta: rateLimitResponseMeta,
      });
      expect(response.headers.get("RateLimit")).toBe(
        `"window";r=${left};t=${secondsLeft(hashKey(ADA))}`,
      );
    }
  });
});
