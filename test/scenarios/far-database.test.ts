import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { createRateLimiter, DAY } from "../../server/index.js";
import { createPostgres } from "../support/database.js";
import { openStore } from "../support/open-store.js";

const few = { kind: "fixed window", rate: 1000, period: DAY, start: 0 } as const;
const limits = { few, spread: { ...few, shards: 4 } } as const;
const mixed = { first: { ...few, maxReserved: 100 }, second: few } as const;
const PROXY = fileURLToPath(new URL("../../bench/proxy.ts", import.meta.url));

/** The URL of a database through a proxy that delays its answers by `roundTrip` ms. */
async function throughProxy(target: string, roundTrip: number): Promise<string> {
  const url = new URL(target);
  const args = [PROXY, url.hostname, url.port, String(roundTrip)];
  const proxy = spawn(process.execPath, ["--import", "tsx", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void proxy.kill());
  const [port] = (await once(proxy.stdout, "data")) as [Buffer];
  url.hostname = "127.0.0.1";
  url.port = port.toString().trim();
  return url.href;
}

it.each([
  ["one row", "few", "postgresql"],
  ["one row", "few", "pg"],
  ["four shards", "spread", "postgresql"],
  ["four shards", "spread", "pg"],
] as const)(
  "answers every call of three stores on %s in time, 200 ms from the database",
  async (_, name, kind) => {
    await using database = await createPostgres();
    const url = await throughProxy(database.url, 200);
    const opened = [1, 2, 3].map(() => openStore(kind, url));
    const limiters = opened.map(({ store }) => createRateLimiter({ store, limits }));
    for (const limiter of limiters) await limiter.limit(name);
    const results = await Promise.all(
      limiters.flatMap((limiter) =>
        Array.from({ length: 16 }, async () => [
          await limiter.limit(name),
          await limiter.limit(name),
          await limiter.limit(name),
        ]),
      ),
    );
    expect(results.flat().every(({ ok }) => ok)).toBe(true);
    expect((await limiters[0]!.getValue(name)).value).toBe(1000 - 3 - 3 * 16 * 3);
    await Promise.all(opened.map(({ close }) => close()));
  },
);

it.each(["postgresql", "pg"] as const)(
  "answers every call of three stores that take, reserve, refund and call limitAll on one row, 60 ms from the database (%s)",
  async (kind) => {
    await using database = await createPostgres();
    const url = await throughProxy(database.url, 60);
    const opened = [1, 2, 3].map(() => openStore(kind, url));
    const limiters = opened.map(({ store }) => createRateLimiter({ store, limits: mixed }));
    for (const limiter of limiters) await limiter.limit("first");
    let failed = 0;
    const callers = limiters.flatMap((limiter) => {
      const calls: (() => Promise<unknown>)[] = [
        () => limiter.limit("first"),
        () => limiter.limitAll([{ name: "first" }, { name: "second" }]),
        () => limiter.refund("first"),
        () => limiter.limit("first", { reserve: true }),
      ];
      return Array.from({ length: 16 }, async (_, i) => {
        for (let turn = 0; turn < 4; turn++) {
          await calls[(i + turn) % 4]!().catch(() => failed++);
        }
      });
    });
    await Promise.all(callers);
    expect(failed).toBe(0);
    // Each caller has made each call once: three of them take 1 token, and one gives it back.
    expect((await limiters[0]!.getValue("first")).value).toBe(1000 - 3 - 3 * 16 * 2);
    expect((await limiters[0]!.getValue("second")).value).toBe(1000 - 3 * 16);
    await Promise.all(opened.map(({ close }) => close()));
  },
);
