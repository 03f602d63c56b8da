/** The features of limits, how a config asks for each, and the pairs that are refused. */
import { MINUTE, SECOND } from "../../../core/durations.js";
import type { LimitConfigs, PlannedConfig } from "../../../server/index.js";
import type { CreditsConfig, RateLimitConfig } from "../../../core/limit-config.js";

/** A new feature gets a line here, one in `PARTS`, and the acts of its calls in `any-program.ts`. */
export const FEATURES = [
  "override",
  "lease",
  "slot",
  "id",
  "shards",
  "calendar",
  "closing",
  "remembered denial",
  "credits",
  "shadow",
  "fail-open",
  "transaction",
  "using",
  "rolling deployment",
  "hold",
  "usage",
  "plan",
] as const;

export type Feature = (typeof FEATURES)[number];
/** The config of a limit that is no slots. */
export type Tokens = RateLimitConfig | CreditsConfig;
export type Pair = readonly [Feature, Feature];

export const PAIRS: readonly Pair[] = FEATURES.flatMap((first, i) =>
  FEATURES.slice(i + 1).map((second): Pair => [first, second]),
);

/** How long ids are remembered, ms: of the limit, and of the limiter. */
export const ONCE_FOR = 10 * MINUTE;

/** What a feature adds to the config of the limit. Those of calls add nothing. */
const PARTS: Partial<Record<Feature, readonly object[]>> = {
  lease: [{ rate: 6000, capacity: 6000, lease: { ms: 10 * SECOND } }],
  id: [{ onceFor: ONCE_FOR }],
  shards: [{ shards: 2 }],
  calendar: [{ kind: "fixed window", period: "day", timeZone: "Europe/Berlin" }],
  closing: [{ blockFor: 5 * MINUTE }, { blockFor: [MINUTE, 10 * MINUTE] }],
  "remembered denial": [{ rememberDenials: MINUTE }],
  credits: [{ kind: "credits", rate: undefined, period: undefined, capacity: 20 }],
  shadow: [{ shadow: true }],
  "fail-open": [{ whenStoreFails: "allow" }],
  hold: [{ holds: true }],
  usage: [{ usage: true }],
};

/** The config of a limit with both features. */
export function configOf(pair: Pair, variant: number): Tokens {
  const parts = pair.map((feature) => PARTS[feature]?.[variant % PARTS[feature].length]);
  const base = { kind: "token bucket", rate: 6, period: MINUTE, capacity: 6 };
  return Object.assign(base, ...parts) as Tokens;
}

/** The same limit in the next version of an application: half as much. */
export function nextVersion(config: Tokens): Tokens {
  const capacity = config.capacity! / 2;
  if (config.kind === "credits") return { ...config, capacity };
  return { ...config, rate: config.rate / 2, capacity };
}

/** The plans of the limit: the same and half as much, see {@link nextVersion}. */
export const PLANS = ["whole", "half"] as const;

/** The same limit by plans: the caller's process says which one it has. */
export function planned(config: Tokens): PlannedConfig {
  const terms = ({ rate, capacity }: Partial<RateLimitConfig>) => ({ rate, capacity });
  const { rate: _, capacity: __, ...shared } = config as RateLimitConfig;
  const plans = {
    whole: terms(config as RateLimitConfig),
    half: terms(nextVersion(config) as RateLimitConfig),
  };
  return { ...shared, plans } as unknown as PlannedConfig;
}

/** The limits of an application. Slots are entered together with tokens of the other limit. */
export function limitsOf(config: Tokens | PlannedConfig, slots: number): LimitConfigs {
  return { limit: config, work: { kind: "concurrency", slots } };
}

/** By the two features in the order of the list: words of the error that refuses them. */
export const REFUSED: Readonly<Record<string, string>> = {
  "lease, shards": "shards does not go with lease",
  "lease, calendar": "period does not go with lease",
  "lease, closing": "blockFor does not go with lease",
  "lease, credits": 'lease does not go with kind: "credits"',
  "slot, id": "once is not an option of enter()",
  "slot, transaction": "which has slots and no tokens; use enter()",
  "slot, using": "which has slots and no tokens; use enter()",
  "slot, hold": "once is not an option of enter()",
  "id, shards": "shards does not go with onceFor",
  "shards, closing": "blockFor must be left out of a limit with shards",
  "shards, hold": "shards does not go with holds",
  "shards, credits": 'shards does not go with kind: "credits"',
  "credits, plan": "cannot be credits",
  "calendar, credits": 'timeZone does not go with kind: "credits"',
  "closing, credits": 'blockFor does not go with kind: "credits"',
  "closing, hold": "blockFor does not go with holds",
};

/** Blocks are only compared with what the limit allows in any span of time. */
export const isLeased = (pair: Pair) => pair.includes("lease");

/** Another process gives tokens, also back, or has another config: a denial from memory is then too strict. */
export const mayBeOld = (pair: Pair) =>
  pair.includes("remembered denial") &&
  pair.some((each) => ["override", "credits", "rolling deployment", "hold", "plan"].includes(each));

export const nameOf = ([first, second]: Pair) => `${first}, ${second}`;

export const isRefused = (pair: Pair) => nameOf(pair) in REFUSED;

/** The pairs that go together. */
export const USED = PAIRS.filter((pair) => !isRefused(pair));
