/**
 * The MySQL store, unchanged, on a cluster of three MariaDB nodes that all accept writes, while nodes
 * are killed and frozen.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectLinearizable, expectSomeLinearizable } from "../histories/expect-linearizable.js";
import { startWorkers } from "../histories/workers.js";
import { createMysql } from "../support/database.js";
import { openStore } from "../support/open-store.js";
import { describeStore } from "../server/store/contract.js";
import { type GaleraCluster, missingForGalera, startGalera } from "./cluster.js";

const missing = await missingForGalera();

describe.runIf(missing !== undefined)("Galera", () => {
  it("carries the MySQL store", ({ skip }) => skip(missing));
});

describe.skipIf(missing !== undefined)("on Galera", () => {
  let cluster: GaleraCluster;
  beforeAll(async () => {
    cluster = await startGalera();
  });
  afterAll(() => cluster.stop());

  /** A database of its own, and its URL on each node. */
  async function create() {
    const database = await createMysql(cluster.nodes[0]!.url);
    const { pathname } = new URL(database.url);
    const urls = cluster.nodes.map(({ url }) => new URL(pathname, url).href);
    return { urls, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
  }

  describeStore("prismaStore with its peer on another node", async () => {
    const database = await create();
    const opened = database.urls.slice(0, 2).map((url) => openStore("mysql", url));
    return {
      store: opened[0]!.store,
      peer: opened[1]!.store,
      unguarded: "Galera does not certify a row that a transaction has written as it was",
      async close() {
        await Promise.all(opened.map(({ close }) => close()));
        await database[Symbol.asyncDispose]();
      },
    };
  });

  const callers = [4, 3, 1];
  const outages = { kind: "mysql2", callers, timeout: 1500 } as const;

  it("three processes on three nodes have a linearizable history", async () => {
    await using database = await create();
    await using workers = await startWorkers({ kind: "mysql", url: database.urls, callers });
    await workers.answered(200);
    await workers.stop();
    expect(workers.history.every(({ answer }) => answer !== undefined)).toBe(true);
    expectLinearizable(workers.history);
  });

  it(
    "admits no more than there is while a node is killed, and when it is back",
    { timeout: 180_000 },
    () =>
      expectSomeLinearizable(async () => {
        await using database = await create();
        await using workers = await startWorkers({ ...outages, url: database.urls });
        await workers.answered(60);
        await cluster.nodes[2]!.kill();
        await workers.failed(0);
        await cluster.nodes[2]!.restart();
        await cluster.nodes[0]!.hasJoined(3);
        await workers.answered(60);
        await workers.stop();
        return workers.history;
      }),
  );

  it(
    "admits no more than there is while a node is frozen, and when it goes on",
    { timeout: 180_000 },
    () =>
      expectSomeLinearizable(async () => {
        await using database = await create();
        await using workers = await startWorkers({ ...outages, url: database.urls });
        await workers.answered(60);
        cluster.nodes[2]!.freeze();
        await workers.failed(0);
        cluster.nodes[2]!.thaw();
        await cluster.nodes[0]!.hasJoined(3);
        await workers.answered(60);
        await workers.stop();
        return workers.history;
      }),
  );
});
