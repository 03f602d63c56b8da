/** Three processes that call a limit without pause while its plan goes up and down. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, SECOND, type RateLimitConfig } from "../../server/index.js";
import { bundleProgram } from "../support/bundle-program.js";
import { sharedDatabases } from "../support/database.js";
import { isNightly } from "../support/nightly.js";
import { openStore, type StoreKind } from "../support/open-store.js";

const PROCESS = await bundleProgram(new URL("../support/change-plans.ts", import.meta.url));
const CHANGES = isNightly ? 200 : 50;
const PROCESSES = 3;
/** How much the clocks of the processes may differ by what each knows of the database's, ms. */
const CLOCKS = 100;
const user = { key: "ada" } as const;

const small = { kind: "token bucket", rate: 5, period: SECOND, capacity: 5 } as const;
const large = { ...small, rate: 50, capacity: 50 };
type Plans = { small: RateLimitConfig; large: RateLimitConfig; overrides: boolean };
type Grant = [asked: number, answered: number, isLarge: boolean];

function start(kind: StoreKind, url: string, plans: Plans) {
  const child = spawn(process.execPath, [PROCESS, kind, url, JSON.stringify(plans)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exit;
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    next: async () => ((await lines.next()) as { value: string }).value,
    tell: (line: string) => void child.stdin.write(`${line}\n`),
  };
}

/**
 * By how much the grants of any span of time exceed what both plans hold, and what the larger one refills
 * in the span. Negative for never. Idle time is refilled by the plan of the next call.
 */
function excess(grants: readonly Grant[], slack: number): number {
  const asked = grants.toSorted(([a], [b]) => a - b);
  const most = small.capacity + large.capacity + slack;
  let beyond = -Infinity;
  const step = Math.max(1, Math.floor(asked.length / 300));
  for (let i = 0; i < asked.length; i += step) {
    const since = asked[i]![0];
    const answers = asked.slice(i).map(([, answered]) => answered);
    for (const [count, answered] of answers.toSorted((a, b) => a - b).entries()) {
      beyond = Math.max(beyond, count + 1 - most - (large.rate * (answered - since)) / SECOND);
    }
  }
  return beyond;
}

async function race(
  kind: StoreKind,
  url: string,
  plans: Plans,
  change: (limiter: ReturnType<typeof limiterOf>, isUp: boolean) => Promise<unknown>,
) {
  const { store, close } = openStore(kind, url);
  const limiter = limiterOf(store, plans);
  const processes = Array.from({ length: PROCESSES }, () => start(kind, url, plans));
  await Promise.all(processes.map(({ next }) => next()));
  for (let i = 0; i < CHANGES; i++) {
    const isUp = i % 2 === 0;
    await change(limiter, isUp);
    for (const { tell } of processes) tell(isUp ? "large" : "small");
    await setTimeout(10 + (i % 7) * 5);
  }
  for (const { tell } of processes) tell("end");
  const printed = await Promise.all(processes.map(({ next }) => next()));
  await close();
  return printed.flatMap((text) => JSON.parse(text) as Grant[]);
}

function limiterOf(store: ReturnType<typeof openStore>["store"], { small: own, overrides }: Plans) {
  return createRateLimiter({
    store,
    limits: { calls: own as typeof small },
    timeout: 10_000,
    ...(overrides && { overrides, overridesFor: 0 }),
  });
}

const LEASE = 50;
const leased = { lease: { ms: LEASE } } as const;
const cases: [string, Plans][] = [
  ["by the config of their calls", { small, large, overrides: false }],
  ["by overrides", { small, large, overrides: true }],
  [
    "by the config of their calls, with shards",
    { small: { ...small, shards: 2 }, large: { ...large, shards: 2 }, overrides: false },
  ],
  [
    "by the config of their calls, with a lease",
    { small: { ...small, ...leased }, large: { ...large, ...leased }, overrides: false },
  ],
];

/** Without an ORM, a process makes the most calls. */
const databases = sharedDatabases.filter(({ kind }) => kind === "pg" || kind === "mysql2");

describe.each(databases)("changes of plan without pause, on $name", ({ kind, create }) => {
  it.each(cases)(
    "%s, grant no more than the larger plan",
    { timeout: 120_000 },
    async (_, plans) => {
      await using database = await create();
      const grants = await race(kind, database.url, plans, async (limiter, isUp) => {
        // Nobody has to be told.
        if (!plans.overrides) return;
        if (isUp) return limiter.overrides.set("calls", { ...user, config: plans.large });
        return limiter.overrides.clear("calls", user);
      });
      // Of a lease, what the faster plan adds in its ms.
      const ms = CLOCKS + ("lease" in plans.small ? LEASE : 0);
      expect(excess(grants, (50 * ms) / SECOND)).toBeLessThanOrEqual(0);
      expect(grants.length).toBeGreaterThan(50);
    },
  );

  it(
    "are found to grant more where each of them is a fresh start",
    { timeout: 120_000 },
    async () => {
      await using database = await create();
      const plans = { small, large, overrides: false };
      const grants = await race(kind, database.url, plans, (limiter) =>
        limiter.reset("calls", user),
      );
      expect(excess(grants, (50 * CLOCKS) / SECOND)).toBeGreaterThan(0);
    },
  );
});
