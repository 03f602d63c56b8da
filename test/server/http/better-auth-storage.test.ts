/**
 * better-auth itself, over HTTP, with its rate limits in a store. `npm run install:test-projects`
 * installs better-auth. Without it, these tests report that they are skipped.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import {
  createRateLimiter,
  HOUR,
  memoryStore,
  type BetterAuthStorageOptions,
  pgStore,
  type RateLimitConfig,
  rateLimitResponse,
} from "../../../server/index.js";
import { createPostgres, createSqlite, type TestDatabase } from "../../support/database.js";
import { openStore, type StoreKind } from "../../support/open-store.js";
import { serveFetch } from "../../support/serve-fetch.js";

const PROJECT = fileURLToPath(new URL("../../better-auth/", import.meta.url));
const isInstalled = existsSync(`${PROJECT}node_modules/better-auth`);
const TSC = fileURLToPath(new URL("../../../node_modules/typescript/bin/tsc", import.meta.url));

/** Computed, because what it imports may not be there. */
const AUTH = `${PROJECT}auth.ts`;
type Auth = { handler(request: Request): Promise<Response> };
interface AuthModule {
  createAuth(
    limiter: unknown,
    options?: BetterAuthStorageOptions,
    rateLimit?: { customRules?: Record<string, { window: number; max: number }> },
  ): Auth;
}

const databases: [string, StoreKind, () => Promise<TestDatabase>][] = [
  ["SQLite", "sqlite", createSqlite],
  ["PostgreSQL through pg", "pg", () => createPostgres()],
];

if (!isInstalled) {
  it("limits better-auth", ({ skip }) => skip("needs npm run install:test-projects"));
}

describe.skipIf(!isInstalled)("better-auth", async () => {
  const { createAuth } = (isInstalled ? await import(/* @vite-ignore */ AUTH) : {}) as AuthModule;

  /** Serves better-auth as its documentation does, with an answer of its own to outages. */
  const serve = (auth: Auth) =>
    serveFetch((request) =>
      auth.handler(request).catch((error: unknown) => rateLimitResponse(error)),
    );

  const request = (url: string, path: string, body: object, address = "192.0.2.1") =>
    fetch(`${url}/api/auth${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-real-ip": address },
      body: JSON.stringify(body),
    });

  const guess = (url: string, address?: string) =>
    request(url, "/sign-in/email", { email: "ada@example.com", password: "a guess" }, address);

  it("accepts the storage as its own type", async () => {
    const compiling = promisify(execFile)(process.execPath, [TSC, "-p", PROJECT]);
    const { stdout } = await compiling.catch((error: { stdout: string }) => error);
    expect(stdout).toBe("");
  });

  describe.each(databases)("with limits in %s", (_name, kind, create) => {
    async function open(clock: () => number, limits: Record<string, RateLimitConfig> = {}) {
      const database = await create();
      const opened = openStore(kind, database.url);
      const limiter = createRateLimiter({ store: opened.store, limits, clock });
      const app = await serve(createAuth(limiter));
      return {
        url: app.url,
        limiter,
        keys: async () => {
          const rows = await database.prisma.$queryRawUnsafe('SELECT * FROM "RateLimit"');
          return (rows as { name: string; key: string }[]).map(({ name, key }) => `${name} ${key}`);
        },
        async [Symbol.asyncDispose]() {
          await app[Symbol.asyncDispose]();
          await opened.close();
          await database[Symbol.asyncDispose]();
        },
      };
    }

    it("limits sign-in per address, and says after how many seconds it goes on", async () => {
      const clock = createManualClock();
      await using app = await open(clock);
      const made = { name: "Ada", email: "ada@example.com", password: "a long password" };
      expect((await request(app.url, "/sign-up/email", made)).status).toBe(200);

      const statuses = [];
      // better-auth's rule for signing in is 3 in 10 seconds.
      for (let i = 0; i < 3; i++) statuses.push((await guess(app.url)).status);
      expect(statuses).toEqual([401, 401, 401]);
      const denied = await guess(app.url);
      expect(denied.status).toBe(429);
      const seconds = Number(denied.headers.get("X-Retry-After"));
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(10);
      expect((await guess(app.url, "192.0.2.2")).status).toBe(401);

      clock.advance((seconds - 1) * 1000);
      expect((await guess(app.url)).status).toBe(429);
      clock.advance(1000);
      expect((await request(app.url, "/sign-in/email", made)).status).toBe(200);
      expect(await app.keys()).toContain("better-auth 192.0.2.1|/sign-in/email");
    });

    it("lets exactly so many of many requests at once pass", async () => {
      await using app = await open(createManualClock());
      const guesses = await Promise.all(Array.from({ length: 30 }, () => guess(app.url)));
      expect(guesses.filter(({ status }) => status !== 429).length).toBe(3);
    });

    it("tells paths apart that are too long for a row, and prunes their rows", async () => {
      const clock = createManualClock();
      const rule = { kind: "fixed window", rate: 100, period: HOUR } as const;
      await using app = await open(clock, { "better-auth": rule });
      const long = `/sign-in/${"x".repeat(500)}`;
      const statuses = [];
      for (let i = 0; i < 4; i++) statuses.push((await request(app.url, long, {})).status);
      statuses.push((await request(app.url, `${long}y`, {})).status);
      expect(statuses).toEqual([404, 404, 404, 429, 404]);
      const keys = await app.keys();
      expect(keys).toHaveLength(2);
      for (const key of keys) expect(key).toMatch(/^better-auth sha256:[\da-f]{64}$/);

      expect(await app.limiter.prune()).toBe(0);
      clock.advance(2 * HOUR);
      expect(await app.limiter.prune()).toBe(2);
      expect(await app.keys()).toEqual([]);
    });
  });

  describe("while the database is down", () => {
    const createLimiter = () => {
      const pool = new pg.Pool({ connectionString: "postgresql://secret@127.0.0.1:1/none" });
      return createRateLimiter({ store: pgStore(pool), limits: {}, logger: false });
    };

    it("answers 503 and checks no password", async () => {
      await using app = await serve(createAuth(createLimiter()));
      const response = await guess(app.url);
      expect([response.status, await response.text()]).toEqual([503, '{"kind":"StoreFailure"}']);
    });

    it('lets requests pass with whenStoreFails: "allow"', async () => {
      await using app = await serve(createAuth(createLimiter(), { whenStoreFails: "allow" }));
      const statuses = [];
      for (let i = 0; i < 5; i++) statuses.push((await guess(app.url)).status);
      expect(statuses).toEqual([401, 401, 401, 401, 401]);
    });
  });

  it("follows rules of fractions of a second, and rules that allow nothing", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ store: memoryStore(), limits: {}, clock });
    const customRules = {
      "/sign-in/email": { window: 0.25, max: 1 },
      "/sign-up/email": { window: 60, max: 0 },
    };
    await using app = await serve(createAuth(limiter, {}, { customRules }));
    expect((await guess(app.url)).status).toBe(401);
    const denied = await guess(app.url);
    expect([denied.status, denied.headers.get("X-Retry-After")]).toEqual([429, "1"]);
    clock.advance(250);
    expect((await guess(app.url)).status).toBe(401);
    const closed = await request(app.url, "/sign-up/email", {});
    expect([closed.status, closed.headers.get("X-Retry-After")]).toEqual([429, "60"]);
  });
});
