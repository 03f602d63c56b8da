/**
 * Limits of better-auth's endpoints by account and address, against better-auth itself.
 * `npm run install:test-projects` installs better-auth. Without it, these tests report that they are
 * skipped.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { isRateLimitError } from "../../../core/errors.js";
import { createManualClock } from "../../../core/testing.js";
import {
  betterAuthPlugin,
  type BetterAuthPluginOptions,
  type BetterAuthRules,
  createRateLimiter,
  HOUR,
  ipKey,
  memoryStore,
  MINUTE,
  pgStore,
} from "../../../server/index.js";
import { createPostgres } from "../../support/database.js";
import { openStore } from "../../support/open-store.js";
import { serveFetch } from "../../support/serve-fetch.js";

const PROJECT = fileURLToPath(new URL("../../better-auth/", import.meta.url));
const isInstalled = existsSync(`${PROJECT}node_modules/better-auth`);
const MODULE = `${PROJECT}auth.ts`;

interface Auth {
  handler(request: Request): Promise<Response>;
  api: { signInEmail(call: { body: object; headers?: Headers }): Promise<unknown> };
}

const limits = {
  perAccount: { kind: "token bucket", rate: 5, period: HOUR },
  perAddress: { kind: "token bucket", rate: 20, period: MINUTE },
  signUps: { kind: "fixed window", rate: 2, period: HOUR },
} as const;

const isWrong = ({ statusCode }: { statusCode: number }) => statusCode === 401;
const rules: BetterAuthRules<keyof typeof limits> = {
  "/sign-in/email": [
    { name: "perAddress", key: ({ headers }) => ipKey(headers.get("x-real-ip")), on: isWrong },
    { name: "perAccount", key: ({ account }) => account, on: isWrong, resetOnSuccess: true },
  ],
  "/sign-up/*": { name: "signUps", key: ({ headers }) => ipKey(headers.get("x-real-ip")) },
};

const ada = { name: "Ada", email: "ada@example.com", password: "a long password" };

if (!isInstalled) {
  it("limits better-auth by account", ({ skip }) => skip("needs npm run install:test-projects"));
}

describe.skipIf(!isInstalled)("betterAuthPlugin", async () => {
  const { createLimitedAuth } = (isInstalled ? await import(/* @vite-ignore */ MODULE) : {}) as {
    createLimitedAuth(...plugins: unknown[]): Auth;
  };

  async function open(store = memoryStore()) {
    const clock = createManualClock();
    const limiter = createRateLimiter({ store, limits, clock });
    const auth = createLimitedAuth(betterAuthPlugin(limiter, rules));
    const app = await serveFetch((request) => auth.handler(request));
    const post = (path: string, body: object, address = "192.0.2.1") =>
      fetch(`${app.url}/api/auth${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-real-ip": address },
        body: JSON.stringify(body),
      });
    return {
      auth,
      clock,
      limiter,
      post,
      guess: (email: string, address?: string) =>
        post("/sign-in/email", { email, password: "a wrong guess" }, address),
      [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
    };
  }

  it("limits the wrong passwords for one account, from all addresses, however it is spelt", async () => {
    await using app = await open();
    const statuses = [];
    const spellings = ["ada@example.com", "Ada@Example.com", "ADA@EXAMPLE.COM"];
    for (let i = 0; i < 6; i++) {
      statuses.push((await app.guess(spellings[i % 3]!, `192.0.2.${i}`)).status);
    }
    expect(statuses.slice(0, 5)).not.toContain(429);
    expect(statuses[5]).toBe(429);
    expect((await app.guess("grace@example.com")).status).toBe(401);
  });

  it("answers a denial with its facts, for better-auth's client and for others", async () => {
    await using app = await open();
    for (let i = 0; i < 5; i++) await app.guess(ada.email);
    const denied = await app.guess(ada.email);
    expect(denied.status).toBe(429);
    const wait = HOUR / 5;
    expect(denied.headers.get("Retry-After")).toBe(String(wait / 1000));
    expect(denied.headers.get("X-Retry-After")).toBe(String(wait / 1000));
    expect(denied.headers.get("RateLimit")).toContain('"perAccount"');
    const body: unknown = await denied.json();
    expect(body).toMatchObject({
      code: "RATE_LIMITED",
      message: 'Rate limit "perAccount" exceeded. Try again in 12 minutes',
      rateLimit: { kind: "RateLimited", name: "perAccount", retryAfter: wait },
    });
    expect(isRateLimitError({ data: body })).toBe(true);
    // The address paid for five guesses, and nothing for the one that was denied.
    const { value } = await app.limiter.getValue("perAddress", { key: "192.0.2.1" });
    expect(value).toBe(15);
    app.clock.advance(wait);
    expect((await app.guess(ada.email)).status).toBe(401);
  });

  it("costs nothing to log in, and forgets the failures of the account", async () => {
    await using app = await open();
    expect((await app.post("/sign-up/email", ada)).status).toBe(200);
    for (let i = 0; i < 4; i++) expect((await app.guess(ada.email)).status).toBe(401);
    expect((await app.post("/sign-in/email", ada)).status).toBe(200);
    const { value: ofAccount } = await app.limiter.getValue("perAccount", { key: ada.email });
    const { value: ofAddress } = await app.limiter.getValue("perAddress", { key: "192.0.2.1" });
    expect([ofAccount, ofAddress]).toEqual([5, 16]);
  });

  it("gives each of two limiters its own tokens back", async () => {
    const signIns = () =>
      createRateLimiter({
        store: memoryStore(),
        limits: { perAddress: { kind: "fixed window", rate: 10, period: HOUR } },
      });
    const limiters = [signIns(), signIns()] as const;
    const byAddress = { name: "perAddress", key: () => "192.0.2.1" } as const;
    const [failures, calls] = limiters.map((limiter, i) =>
      betterAuthPlugin(limiter, {
        "/sign-in/email": { ...byAddress, on: i === 0 ? isWrong : "call" },
      }),
    );
    const auth = createLimitedAuth(failures, calls);
    await auth.handler(
      new Request("http://localhost/api/auth/sign-up/email", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(ada),
      }),
    );
    for (const password of [ada.password, "a wrong guess", ada.password]) {
      await auth.api.signInEmail({ body: { ...ada, password } }).catch(() => {});
    }
    const values = limiters.map((limiter) => limiter.getValue("perAddress", { key: "192.0.2.1" }));
    expect((await Promise.all(values)).map(({ value }) => value)).toEqual([9, 7]);
  });

  it("counts every request where a rule does not say otherwise", async () => {
    await using app = await open();
    const statuses = [];
    for (const i of [1, 2, 3]) {
      const made = { ...ada, email: `ada${i}@example.com` };
      statuses.push((await app.post("/sign-up/email", made)).status);
    }
    expect(statuses).toEqual([200, 200, 429]);
  });

  it("refuses a request without a key, and takes nothing", async () => {
    await using app = await open();
    const answer = await app.post("/sign-in/email", { password: "no account" });
    expect(answer.status).toBe(400);
    const { value } = await app.limiter.getValue("perAddress", { key: "192.0.2.1" });
    expect(value).toBe(20);
  });

  it("is answered by the application where it has an answer of its own", async () => {
    const limiter = createRateLimiter({ store: memoryStore(), limits, clock: createManualClock() });
    const heard: unknown[] = [];
    const respond: BetterAuthPluginOptions["respond"] = async (call, refusal, error) => {
      heard.push([call.path, refusal.reason, error.statusCode]);
      if (refusal.reason !== "denied") return error;
      const message = `Warte ${refusal.rateLimit.retryAfter / 1000} s`;
      return Object.assign(error, { body: { ...error.body, message } });
    };
    const plugin = betterAuthPlugin(limiter, rules, { respond, xRateLimit: "seconds" });
    const auth = createLimitedAuth(plugin);
    const post = (body: object) =>
      auth.handler(
        new Request("http://localhost/api/auth/sign-in/email", {
          method: "POST",
          headers: { "content-type": "application/json", "x-real-ip": "192.0.2.1" },
          body: JSON.stringify(body),
        }),
      );
    expect((await post({ password: "no account" })).status).toBe(400);
    for (let i = 0; i < 5; i++) await post({ email: ada.email, password: "a wrong guess" });
    const denied = await post({ email: ada.email, password: "a wrong guess" });
    expect([denied.status, denied.headers.get("Retry-After")]).toEqual([429, "720"]);
    expect(denied.headers.get("X-RateLimit-Reset")).toBe("3600");
    expect(await denied.json()).toMatchObject({ code: "RATE_LIMITED", message: "Warte 720 s" });
    expect(heard).toEqual([
      ["/sign-in/email", "no key", 400],
      ["/sign-in/email", "denied", 429],
    ]);
  });

  it("denies nobody while the limits are off", async () => {
    const limiter = createRateLimiter({
      store: memoryStore(),
      limits,
      enabled: false,
      logger: false,
    });
    const auth = createLimitedAuth(betterAuthPlugin(limiter, rules));
    const body = { email: ada.email, password: "a wrong guess" };
    const headers = new Headers({ "x-real-ip": "192.0.2.1" });
    for (let i = 0; i < 9; i++) {
      await expect(auth.api.signInEmail({ body, headers })).rejects.toMatchObject({
        statusCode: 401,
      });
    }
  });

  it("keeps accounts apart that are too long for a key", async () => {
    await using app = await open();
    const long = `${"a".repeat(300)}@example.com`;
    for (let i = 0; i < 5; i++) await app.guess(long);
    expect((await app.guess(long)).status).toBe(429);
    expect((await app.guess(`b${long}`)).status).not.toBe(429);
  });

  it("throws the denial to callers on the server, which isRateLimitError recognises", async () => {
    await using app = await open();
    const headers = new Headers({ "x-real-ip": "192.0.2.1" });
    const call = () =>
      app.auth.api.signInEmail({ body: { email: ada.email, password: "wrong" }, headers });
    for (let i = 0; i < 5; i++) await expect(call()).rejects.toMatchObject({ statusCode: 401 });
    const error: unknown = await call().catch((thrown: unknown) => thrown);
    expect(isRateLimitError(error) && error.data.rateLimit.name).toBe("perAccount");
  });

  it("lets exactly so many of many guesses at once through, on PostgreSQL", async () => {
    await using database = await createPostgres();
    const opened = openStore("pg", database.url);
    {
      await using app = await open(opened.store as never);
      for (let round = 0; round < 5; round++) {
        const email = `ada${round}@example.com`;
        const addresses = Array.from({ length: 30 }, (_, i) => `192.0.2.${i}`);
        const answers = await Promise.all(addresses.map((address) => app.guess(email, address)));
        expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
      }
    }
    await opened.close();
  });

  it("answers 503 while the store fails, and checks no password", async () => {
    const pool = new pg.Pool({ connectionString: "postgresql://secret@127.0.0.1:1/none" });
    const limiter = createRateLimiter({ store: pgStore(pool), limits, logger: false });
    const auth = createLimitedAuth(betterAuthPlugin(limiter, rules));
    await using app = await serveFetch((request) => auth.handler(request));
    const answer = await fetch(`${app.url}/api/auth/sign-in/email`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-real-ip": "192.0.2.1" },
      body: JSON.stringify({ email: ada.email, password: "a guess" }),
    });
    expect(answer.status).toBe(503);
    expect(await answer.text()).not.toContain("secret");
  });
});

describe("the rules of betterAuthPlugin", () => {
  const limiter = createRateLimiter({ store: memoryStore(), limits });
  const plugin = (some: unknown) => () => betterAuthPlugin(limiter, some as never);
  const key = () => "a key";

  it.each([
    [undefined, /rules must be an object/],
    [{ "sign-in": { name: "perAccount", key } }, /paths of endpoints/],
    [{ "/sign-in": { name: "perAcount", key } }, /no limit "perAcount"/],
    [{ "/sign-in": { name: "perAccount" } }, /key must be a function/],
    [{ "/sign-in": { name: "perAccount", key, on: "fail" } }, /on must be "call"/],
    [{ "/sign-in": { name: "perAccount", key, resetOnSuccess: 1 } }, /must be a boolean/],
    [{ "/sign-in": { name: "perAccount", key, onError: true } }, /onError/],
    [{ "/sign-in": "perAccount" }, /an object with name and key/],
  ])("refuses %j", (some, message) => {
    expect(plugin(some)).toThrow(message);
  });

  it.each([
    [{ respond: "no" }, /respond must be a function/],
    [{ xRateLimit: "ms" }, /xRateLimit must be "seconds"/],
    [{ answer: () => {} }, /answer is not an option of betterAuthPlugin/],
  ])("refuses the options %j", (options, message) => {
    expect(() => betterAuthPlugin(limiter, {}, options as never)).toThrow(message);
  });

  it("names only limits that the limiter has, in TypeScript", () => {
    const create = () =>
      betterAuthPlugin(limiter, {
        // @ts-expect-error a misspelt name
        "/sign-in/email": { name: "perAcc", key },
      });
    expect(create).toThrow(/no limit "perAcc"/);
  });
});
