/** The `Client` for several hosts of `docs/guides/several-machines.md`, and a name that never changes. */
import pg from "pg";
import { expect, it } from "vitest";
import { createRateLimiter, pgStore } from "../../server/index.js";
import { importBlock } from "../support/docs-module.js";
import { createReplication, until } from "./replication.js";
import { limits } from "./tokens.js";

it("finds the primary among several hosts, and the promoted one after it", async () => {
  await using replication = await createReplication();
  await using pair = await replication.startPair({ synchronous: true });
  const addresses = [pair.standby, pair.primary].map(({ url }) => new URL(url));
  const hosts = addresses.map(({ hostname, port }) => ({ host: hostname, port: Number(port) }));
  const { PrimaryClient } = await importBlock<{ PrimaryClient: typeof pg.Client }>(
    "docs/guides/several-machines.md",
    "server/primary-client.ts",
    (code) =>
      code.replace(
        'import { databaseHosts } from "./env.js";',
        `const databaseHosts = ${JSON.stringify(hosts)};`,
      ),
  );
  const settings = { Client: PrimaryClient, user: "postgres", database: "postgres" };
  const pool = new pg.Pool({ ...settings, connectionTimeoutMillis: 1000 });
  const limiter = createRateLimiter({ store: pgStore(pool), limits, logger: false });
  const portInUse = async () => {
    const { rows } = await pool.query<{ port: number }>("SELECT inet_server_port() AS port");
    return rows[0]!.port;
  };

  // A search that takes longer than the pool waits ends in an error, and not in silence.
  for (let connectionTimeoutMillis = 1; connectionTimeoutMillis < 60; connectionTimeoutMillis++) {
    const hurried = new pg.Pool({ ...settings, connectionTimeoutMillis });
    await hurried.query("SELECT 1").catch(() => {});
    await hurried.end();
  }

  expect(await limiter.limit("tokens")).toMatchObject({ ok: true });
  expect(await portInUse()).toBe(hosts[1]!.port);
  await pair.primary.pause();
  await pair.promote();
  const startedAt = performance.now();
  let failed = 0;
  await until(async () => {
    const { ok } = await limiter.limit("tokens").catch(() => ({ ok: false }));
    if (!ok) failed++;
    return ok;
  });
  const after = Math.round(performance.now() - startedAt);
  console.log(`several hosts, frozen: granted again after ${after} ms and ${failed} failed calls`);
  await pair.primary.kill();
  expect(await portInUse()).toBe(hosts[0]!.port);
  expect((await limiter.getValue("tokens")).value).toBeLessThanOrEqual(limits.tokens.rate - 2);
  await pool.end();
});
