/**
 * The stores, unchanged, while the primary of a PostgreSQL dies, freezes or is replaced. Three
 * processes with a store each call through one address, and the server behind it changes.
 */
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Callers, type Outcome, startCallers } from "./callers.js";
import { createReplication, type Pair, type PairOptions, type Replication } from "./replication.js";
import type { PoolSettings } from "./stores.js";
import { startSwitchProxy, type SwitchProxy } from "./switch-proxy.js";

const KINDS = ["pgStore", "prismaStore, no pool", "prismaStore on a pool"] as const;

interface Failover extends Pair {
  /** What the callers connect to. */
  address: SwitchProxy;
}

let replication: Replication;
let callers: Callers;
beforeAll(async () => {
  [replication, callers] = await Promise.all([createReplication(), startCallers(KINDS)]);
});
afterAll(async () => {
  callers[Symbol.dispose]();
  await replication[Symbol.asyncDispose]();
});

/** @param happen ends with the promotion of the standby, under the address of the primary. */
async function failOver(
  options: PairOptions & { settings?: PoolSettings },
  happen: (failover: Failover) => Promise<void>,
): Promise<Outcome> {
  await using pair = await replication.startPair(options);
  await using address = await startSwitchProxy(pair.primary.url);
  await callers.begin(address.url, options.settings);
  await callers.grantedMore(100);
  await happen({ ...pair, address });
  await callers.resumed();
  await callers.grantedMore(100);
  const outcome = await callers.stop(pair.standby.url);
  return outcome;
}

/** Promotes the standby. Its address is that of the primary then, and old sessions are closed. */
async function promote({ address, standby, ...pair }: Failover): Promise<void> {
  address.switchTo(standby.url);
  address.closeSessions();
  await pair.promote();
  callers.promoted();
}

function print(what: string, { granted, failed, lost, unanswered, resumedAfter }: Outcome): void {
  const after = KINDS.map((kind, index) => `${kind} ${resumedAfter[index]} ms`).join("; ");
  console.log(
    `${what}: ${granted} granted, ${lost} of them lost, ${failed} failed, ${unanswered} taken ` +
      `without an answer; after the promotion every caller goes on within: ${after}`,
  );
}

describe("a synchronous standby has every grant", () => {
  const synchronous = { synchronous: true };

  it("of a primary that was killed", async () => {
    const outcome = await failOver(synchronous, async (failover) => {
      await failover.primary.kill();
      await callers.failedMore(1);
      await promote(failover);
    });
    print("synchronous, killed", outcome);
    expect(outcome.lost).toBe(0);
  });

  it("of a primary that was frozen, and went on when it was replaced", async () => {
    const outcome = await failOver(synchronous, async (failover) => {
      await failover.primary.pause();
      await callers.failedMore(1);
      await promote(failover);
      failover.primary.resume();
    });
    print("synchronous, frozen", outcome);
    expect(outcome.lost).toBe(0);
  });

  it("of a primary that was frozen, while its sessions stay open, as under a name", async () => {
    // Without the first one, connections that were opened meanwhile wait for ever.
    const settings = { connectionTimeoutMillis: 1000, query_timeout: 2000 };
    const outcome = await failOver({ ...synchronous, settings }, async (failover) => {
      const { address, standby, primary } = failover;
      await primary.pause();
      // The statements in flight are given up, and others wait to be connected.
      await setTimeout(6000);
      await failover.promote();
      address.switchTo(standby.url);
      callers.promoted();
    });
    print("synchronous, frozen for 6 s, sessions stay open", outcome);
    expect(outcome.lost).toBe(0);
  });

  it("of a primary that was shut down for a switchover", async () => {
    const outcome = await failOver(synchronous, async (failover) => {
      await failover.primary.stop();
      await promote(failover);
    });
    print("synchronous, switched over", outcome);
    expect(outcome.lost).toBe(0);
  });

  it("of a primary that was killed, if it applies them late", async () => {
    const standby = { recovery_min_apply_delay: "30s" };
    const outcome = await failOver({ ...synchronous, standby }, async (failover) => {
      await failover.primary.kill();
      await promote(failover);
    });
    // It delays what the standby shows, and not what it has.
    print("synchronous, killed, recovery_min_apply_delay of 30 s", outcome);
    expect(outcome.lost).toBe(0);
  });
});

describe("an asynchronous standby", () => {
  const asynchronous = { synchronous: false };

  it("has every grant of a primary that was shut down for a switchover", async () => {
    const outcome = await failOver(asynchronous, async (failover) => {
      await failover.primary.stop();
      await promote(failover);
    });
    print("asynchronous, switched over", outcome);
    expect(outcome.lost).toBe(0);
  });

  it("lacks the grants since its connection to the primary broke", async () => {
    let since = NaN;
    const outcome = await failOver(asynchronous, async (failover) => {
      const { replication: line, primary } = failover;
      line.cut();
      const before = await callers.granted();
      await setTimeout(1500);
      await primary.kill();
      since = (await callers.granted()) - before;
      await promote(failover);
    });
    print(`asynchronous, killed 1.5 s and ${since} grants after the standby was cut off`, outcome);
    expect(outcome.lost).toBeGreaterThan(0);
  });
});
