/**
 * The MySQL store, unchanged, on a cluster of three MariaDB nodes that all accept writes, while nodes
 * are killed and frozen.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { expectLinearizable, expectSomeLinearizable } from "../histories/expect-linearizable.js";
import type { Operation } from "../histories/operation.js";
import { startWorkers, type Workers } from "../histories/workers.js";
import { createMysql } from "../support/database.js";
import { openStore } from "../support/open-store.js";
import { describeStore } from "../server/store/contract.js";
import {
  CrashedNodeError,
  type GaleraCluster,
  type GaleraNode,
  missingForGalera,
  startGalera,
} from "./cluster.js";

const missing = await missingForGalera();

describe.runIf(missing !== undefined)("Galera", () => {
  it("carries the MySQL store", ({ skip }) => skip(missing));
});

describe.skipIf(missing !== undefined)("on Galera", () => {
  let cluster: GaleraCluster;
  /** Each test, and each further try of one, starts with three nodes. */
  async function ensureWhole() {
    if (await cluster.isWhole()) return;
    await cluster.stop();
    cluster = await startGalera();
  }
  beforeAll(async () => {
    cluster = await startGalera();
  });
  beforeEach(ensureWhole);
  afterAll(() => cluster.stop());

  /** A database of its own, and its URL on each node. */
  async function create() {
    const database = await createMysql(cluster.nodes[0]!.url);
    const { pathname } = new URL(database.url);
    const urls = cluster.nodes.map(({ url }) => new URL(pathname, url).href);
    return {
      urls,
      // A node that has crashed drops nothing. The cluster's folder goes in the end.
      async [Symbol.asyncDispose]() {
        await Promise.allSettled([database[Symbol.asyncDispose]()]);
      },
    };
  }

  /** Records histories until one is whole, at most three: a crash of MariaDB ends the others. */
  async function recordWhole(
    record: () => Promise<readonly Operation[]>,
  ): Promise<readonly Operation[]> {
    for (let attempts = 3; ; attempts--) {
      try {
        return await record();
      } catch (error) {
        if (!(error instanceof CrashedNodeError) || attempts === 1) throw error;
        console.warn(`${error.message}\nRecording another history.`);
        await ensureWhole();
      }
    }
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
  const options = { kind: "mysql2", callers, timeout: 1500 } as const;

  it("three processes on three nodes have a linearizable history", async () => {
    await using database = await create();
    await using workers = await startWorkers({ kind: "mysql", url: database.urls, callers });
    await workers.answered(200);
    await workers.stop();
    expect(workers.history.every(({ answer }) => answer !== undefined)).toBe(true);
    expectLinearizable(workers.history);
  });

  /** What a node goes through while callers are at work, until it is back. */
  const outages: [title: string, outage: (node: GaleraNode, workers: Workers) => Promise<void>][] =
    [
      [
        "killed, and when it is back",
        async (node, workers) => {
          await node.kill();
          await workers.failed(0);
          await node.restart();
        },
      ],
      [
        "frozen, and when it goes on",
        async (node, workers) => {
          node.freeze();
          await workers.failed(0);
          node.thaw();
        },
      ],
    ];
  it.each(outages)(
    "admits no more than there is while a node is %s",
    { timeout: 300_000 },
    (_, outage) => {
      const record = async () => {
        await using database = await create();
        await using workers = await startWorkers({ ...options, url: database.urls });
        const { unlessCrashed } = cluster;
        await unlessCrashed(workers.answered(60));
        await unlessCrashed(outage(cluster.nodes[2]!, workers));
        await unlessCrashed(cluster.nodes[0]!.hasJoined(3));
        await unlessCrashed(workers.answered(60));
        await workers.stop();
        return workers.history;
      };
      return expectSomeLinearizable(() => recordWhole(record));
    },
  );
});
