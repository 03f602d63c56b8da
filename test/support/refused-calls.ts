/** Limits of each kind, and tables of calls on them that every limiter refuses before it asks its store. */
import { describe, expect } from "vitest";
import { createRateLimiter, HOUR, memoryStore, MINUTE, SECOND } from "../../server/index.js";
import type { RateLimitStore } from "../../server/index.js";
import { itRejects, type Refusal } from "./refusals.js";

const tokens = { kind: "token bucket", rate: 100, period: HOUR, holds: true };
export const config = { kind: "token bucket", rate: 10, period: MINUTE };
export const keep = { for: MINUTE, then: "keep" };
export const limits = {
  tokens,
  short: { ...tokens, onceFor: MINUTE },
  window: { kind: "fixed window", rate: 10, period: HOUR, start: 0 },
  plan: { kind: "token bucket", rate: 60, period: MINUTE, capacity: 10, holds: true },
  daily: { kind: "fixed window", rate: 8, period: MINUTE, start: 0 },
  member: config,
  never: { kind: "token bucket", rate: 1, period: SECOND, maxReserved: 0 },
  credits: { kind: "credits", holds: true },
  stamps: { kind: "credits", capacity: 10 },
  shown: { ...config, shadow: true },
  sharded: { ...config, shards: 2 },
  jobs: { kind: "concurrency", slots: 2 },
};

/** In plain JavaScript. */
type Verbs = Record<string, (...args: unknown[]) => Promise<unknown>>;
type Told = string | RegExp | object;
export type Call = readonly [verb: string, args: readonly unknown[], ...told: Told[]];

export const callsOf = (verb: string, name: string, rows: [options: unknown, told: Told][]) =>
  rows.map(([options, told]): Call => [verb, [name, options], told]);

export const limitAllOf = (rows: [items: unknown[], told: string, options?: object][]) =>
  rows.map(([items, told, options = {}]): Call => ["limitAll", [items, options], told]);

/** Also while its store is down. A limiter that is off refuses them, too, except for `unlessOff`. */
export function everyLimiterRefuses(
  errors: Parameters<typeof itRejects>[0],
  calls: readonly Call[],
  unlessOff: readonly Call[] = [],
): void {
  describe.each([
    ["decides", {}],
    ["is off", { enabled: false }],
    ["lets calls through in outages", { whenStoreFails: "allow" }],
  ])("a limiter that %s", (which, options) => {
    let asked = 0;
    const { submit: _, ...memory } = memoryStore() as RateLimitStore;
    const apply = () => Promise.reject(new Error(`asked ${++asked} times`));
    const verbs = createRateLimiter({
      store: { ...memory, apply },
      limits,
      logger: false,
      ...options,
    } as never) as unknown as Verbs;
    const rows = [...calls, ...(which === "is off" ? [] : unlessOff)].map(
      ([verb, args, ...told]): Refusal => [() => verbs[verb]!(...args), ...told],
    );
    itRejects(errors, rows, () => expect(asked).toBe(0));
  });
}
