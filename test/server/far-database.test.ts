import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { createRateLimiter, DAY } from "../../server/index.js";
import { createPostgres } from "../support/database.js";
import { openStore } from "../support/open-store.js";

const few = { kind: "fixed window", rate: 1000, period: DAY, start: 0 } as const;
const limits = { few, spread: { ...few, shards: 4 } } as const;
const PROXY = fileURLToPath(new URL("../../bench/proxy.ts", import.meta.url));
/** ms */
const ROUND_TRIP = 200;

/** The URL of a database through a proxy that delays its answers. */
async function throughProxy(target: string): Promise<string> {
  const url = new URL(target);
  const args = [PROXY, url.hostname, url.port, String(ROUND_TRIP)];
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
    const url = await throughProxy(database.url);
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
