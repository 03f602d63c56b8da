/**
 * Histories of calls, and how to play them on a limiter: which rows they leave, and what later calls
 * answer. A fixture contains the histories of its version, so that the histories here can change.
 */
import { tokensOf } from "../../core/rows/reading.js";
import { shardConfig } from "../../core/config.js";
import type { RateLimitConfig } from "../../core/limit-config.js";
import type { Row as StoredRow } from "../../core/rows/row.js";
import { createManualClock } from "../../core/testing.js";
import {
  calculateRateLimit,
  createRateLimiter,
  DAY,
  HOUR,
  type LimitConfigs,
  MINUTE,
  type RateLimitStore,
} from "../../server/index.js";

type Call = "limit" | "check" | "charge" | "refund" | "reset" | "getValue";

/** One call, at an instant in epoch ms. */
export interface Step {
  at: number;
  call: Call;
  name: string;
  options?: { key?: string; count?: number; reserve?: boolean };
}

export interface Row extends StoredRow {
  name: string;
  key: string;
  shard: number;
}

export interface History {
  title: string;
  limits: LimitConfigs;
  /** Leave rows. */
  steps: Step[];
  /** Are answered from these rows. */
  later: Step[];
}

/** A history, and what a version made of it. */
export interface RecordedHistory extends History {
  results: unknown[];
  rows: Row[];
  laterResults: unknown[];
  /** What `calculateRateLimit` says of each row, for each of the later calls. */
  calculations: unknown[];
}

/** In the middle of a month, an hour and a minute. */
export const NOW = Date.UTC(2026, 4, 17, 10, 30, 30, 500);

const key = "ada";
const step = (ms: number, call: Call, name: string, options: Step["options"] = {}): Step => ({
  at: NOW + ms,
  call,
  name,
  options: { key, ...options },
});

export const histories: readonly History[] = [
  {
    title: "a token bucket",
    limits: { send: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 } },
    steps: [step(0, "limit", "send"), step(1234, "limit", "send", { count: 1.5 })],
    later: [
      step(1300, "check", "send", { count: 3 }),
      step(1300, "limit", "send", { count: 3 }),
      step(8000, "limit", "send", { count: 1 }),
      step(9000, "getValue", "send"),
    ],
  },
  {
    title: "the bucket that all callers share",
    limits: { shared: { kind: "token bucket", rate: 2, period: HOUR } },
    steps: [{ at: NOW, call: "limit", name: "shared" }],
    later: [
      { at: NOW + 1, call: "limit", name: "shared" },
      { at: NOW + 2, call: "limit", name: "shared" },
    ],
  },
  {
    title: "a fixed window without a start",
    limits: { hourly: { kind: "fixed window", rate: 5, period: HOUR, capacity: 8 } },
    steps: [step(0, "limit", "hourly", { count: 7 })],
    later: [
      step(1, "limit", "hourly", { count: 2 }),
      step(HOUR, "limit", "hourly", { count: 6 }),
      step(HOUR, "getValue", "hourly"),
    ],
  },
  {
    title: "months from a billing date, with carry-over",
    limits: {
      monthly: {
        kind: "fixed window",
        rate: 100,
        period: "month",
        capacity: 150,
        start: Date.UTC(2026, 0, 31),
      },
    },
    steps: [step(0, "limit", "monthly", { count: 120 })],
    later: [
      step(1, "limit", "monthly", { count: 31 }),
      step(15 * DAY, "limit", "monthly", { count: 130 }),
      step(60 * DAY, "getValue", "monthly"),
    ],
  },
  {
    title: "shards",
    limits: { spread: { kind: "token bucket", rate: 40, period: MINUTE, shards: 4 } },
    steps: [step(0, "limit", "spread", { count: 3 }), step(10, "limit", "spread", { count: 15 })],
    later: [step(20, "limit", "spread", { count: 12 }), step(20, "getValue", "spread")],
  },
  {
    title: "reserved tokens",
    limits: { model: { kind: "token bucket", rate: 60, period: MINUTE, maxReserved: 90 } },
    steps: [step(0, "limit", "model", { count: 50 }), step(5, "limit", "model", reserve(40))],
    later: [
      step(10, "limit", "model", reserve(30)),
      step(10, "limit", "model", reserve(90)),
      step(10, "limit", "model"),
      step(2 * MINUTE, "getValue", "model"),
    ],
  },
  {
    title: "a debt for use that has happened, and a gift",
    limits: { used: { kind: "token bucket", rate: 10, period: HOUR } },
    steps: [step(0, "charge", "used", { count: 14 }), step(5, "refund", "used", { count: 1 })],
    later: [step(10, "limit", "used"), step(HOUR, "limit", "used", { count: 2 })],
  },
  {
    title: "a token bucket that a denial has closed",
    limits: { logIn: { kind: "token bucket", rate: 2, period: MINUTE, blockFor: 10 * MINUTE } },
    steps: [step(0, "limit", "logIn", { count: 2 }), step(1, "limit", "logIn")],
    later: [step(2, "limit", "logIn"), step(10 * MINUTE + 30_001, "limit", "logIn")],
  },
  {
    title: "a fixed window that a denial has closed",
    limits: { codes: { kind: "fixed window", rate: 2, period: MINUTE, blockFor: 150_000 } },
    steps: [step(0, "limit", "codes", { count: 2 }), step(1, "limit", "codes")],
    later: [step(2 * MINUTE, "limit", "codes"), step(4 * MINUTE, "limit", "codes")],
  },
  {
    title: "a fixed window that opens full after a denial has closed it",
    limits: {
      tries: {
        kind: "fixed window",
        rate: 2,
        period: HOUR,
        blockFor: 10 * MINUTE,
        afterBlock: "new window",
      },
    },
    steps: [step(0, "limit", "tries", { count: 2 }), step(1, "limit", "tries")],
    later: [
      step(MINUTE, "limit", "tries"),
      step(10 * MINUTE + 1, "limit", "tries"),
      step(HOUR + 5 * MINUTE, "limit", "tries", { count: 2 }),
    ],
  },
  {
    title: "a bucket that was reset",
    limits: { again: { kind: "token bucket", rate: 5, period: HOUR } },
    steps: [step(0, "limit", "again", { count: 5 }), step(1, "reset", "again")],
    later: [step(2, "limit", "again", { count: 5 }), step(3, "limit", "again")],
  },
];

function reserve(count: number) {
  return { count, reserve: true };
}

/** Makes the calls one after the other. Resolves with their results, as JSON would carry them. */
export async function play(
  store: RateLimitStore,
  limits: LimitConfigs,
  steps: readonly Step[],
): Promise<unknown[]> {
  const clock = createManualClock(0);
  // Chooses the same shards in every version that draws two numbers from 0 to 1 per call.
  const limiter: Record<Call, (name: string, options: object) => Promise<unknown>> =
    createRateLimiter({ store, limits, clock, random: () => 0.4 });
  const results: unknown[] = [];
  for (const { at, call, name, options = {} } of steps) {
    clock.set(at);
    results.push(await limiter[call](name, options));
  }
  return JSON.parse(JSON.stringify(results.map((result) => result ?? null))) as unknown[];
}

/** All rows of these limits. */
export async function rowsOf(store: RateLimitStore, limits: LimitConfigs): Promise<Row[]> {
  const found = Object.keys(limits).map(async (name) => {
    const ids = await store.list!(name, undefined, 100);
    const states = await store.apply(
      ids.map((id) => ({
        rows: [id],
        readOnly: true,
        decide: ([state]) => ({ result: state }),
      })),
    );
    return ids.map(({ key: of, shard }, i) => ({ name, key: of, shard, ...states[i]! }));
  });
  return (await Promise.all(found)).flat();
}

/**
 * A browser calculates with its own version what a server of another version decides, from what it is
 * shown of a row.
 */
export function calculationsOf({ limits, later }: History, rows: readonly Row[]): unknown[] {
  const calculations = later.flatMap(({ at, name, options: { count = 1 } = {} }) =>
    rows.map((row) => {
      const config = shardConfig(limits[name] as RateLimitConfig);
      const shown = tokensOf(row, config);
      return { shard: row.shard, at, count, ...calculateRateLimit(shown, config, at, count) };
    }),
  );
  return JSON.parse(JSON.stringify(calculations)) as unknown[];
}
