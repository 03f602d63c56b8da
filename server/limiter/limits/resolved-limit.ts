/** Resolves a limit's name, and perhaps a key, to a config and rows. */
import type { Row } from "../../../core/rows/row.js";
import { floorOf, type Bucket, shardConfig } from "../../../core/config.js";
import { mostHeld } from "../../../core/count.js";
import type { CreditsConfig, LimitConfig, RateLimitConfig } from "../../../core/limit-config.js";
import { bucketConfig, isCredits } from "../../../core/rows/credits.js";
import { COUNT_SHARD, HELD } from "../../../core/rows/hold.js";
import { validateRoom } from "../../../core/rows/marker.js";
import { sideName } from "../../../core/rows/side-rows.js";
import { STRIKES, strikesConfig } from "../../../core/rows/strikes.js";
import { END_OF_COUNTER, type UsageTerms, usageTerms } from "../../../core/rows/usage.js";
import { describe, RateLimitConfigError, RateLimitInputError } from "../../../core/errors.js";
import { END_OF_WARNING, marksOf, quietMost } from "../../../core/rows/warning.js";
import { validateName } from "../../../core/validate-key.js";
import { validateHolds } from "../../../core/validate-holds.js";
import { withStart } from "../../../core/phase.js";
import { validateConfig } from "../../../core/validate-config.js";
import type { RateLimitOverride } from "../types/override-types.js";
import { leaseTerms, type LeaseTerms } from "../../leases/lease-terms.js";
import { mayBePlain } from "../../store/plain-path.js";
import { noTokens } from "./no-tokens.js";
import { rowId, type RowId } from "../../store/store.js";

/** The policies of limits that do not set them. */
export interface LimitDefaults {
  /** How long a process may repeat a denial from memory, ms. */
  readonly rememberDenials: number;
  readonly whenStoreFails: "fail" | "allow";
}

const NO_POLICIES: LimitDefaults = { rememberDenials: 0, whenStoreFails: "fail" };

/** The answer to every call of a limit that an override or a plan exempts or blocks. */
export interface OverriddenAnswer {
  readonly kind: "unlimited" | "blocked";
  /** When the override ends, epoch ms; `undefined` for never. */
  readonly until: number | undefined;
  /** The limit without the override. */
  readonly beneath: ResolvedLimit;
}

/** One limit for one key, resolved and checked. */
export interface ResolvedLimit {
  readonly name: string;
  /** The key as the caller gave it. The rows may have another key; see `hashKey`. */
  readonly key: string | undefined;
  /** The config with `start` filled in, or with its calendar. Users see it as `shownConfig` returns it. */
  readonly config: Bucket;
  /** One shard's part of the config; the config itself without shards. */
  readonly part: Bucket;
  /** The most tokens that the rows of one call can hold. The limit can grant any count up to `most`. */
  readonly most: number;
  /** The least tokens that a call without `reserve` may leave in a row. */
  readonly floor: number;
  /** See `marksOf`; `undefined` without `warnAt`. */
  readonly marks: readonly number[] | undefined;
  /** See `quietMost` of `core`; `Infinity` without `warnAt`. */
  readonly quietMost: number;
  /** Whether a store may carry out a take by itself; see `Decision.plain`. */
  readonly isPlain: boolean;
  /** Whether calls are let through when the store fails. */
  readonly failsOpen: boolean;
  /** How long a denial is repeated from memory, ms; 0 for never. */
  readonly rememberFor: number;
  /** How long ids of calls with `once` are remembered, ms; `undefined` for the limiter's default. */
  readonly onceFor: number | undefined;
  /** How the limit's usage is counted; `undefined` for not at all. */
  readonly usage: UsageTerms | undefined;
  /** The limit's row, and the row that counts its closings. `undefined` where `blockFor` is no list. */
  readonly counted: readonly [RowId, RowId] | undefined;
  /** The limit's row, and the row that adds up its holds. `undefined` for a limit without holds. */
  readonly holdRows: readonly [RowId, RowId] | undefined;
  /** The row that counts the limit's holds. `undefined` for a limit without holds. */
  readonly holdCount: RowId | undefined;
  /** The answer to every call; `undefined` where the rows decide. */
  readonly answer: OverriddenAnswer | undefined;
  /** The override by which the limit was resolved. */
  readonly override: RateLimitOverride | undefined;
  /** The plan by which the limit was resolved. */
  readonly plan: string | undefined;
  /** The links that may answer a call of `limit` before the row does; see `limiterAnswers`. */
  readonly via: "row" | "memory" | "block" | "block, memory";
  /** The terms by which this process takes tokens in blocks; `undefined` for a limit without a lease. */
  readonly lease: LeaseTerms | undefined;
  /**
   * The last known state of each shard, by index. The state only decides which of two shards is tried
   * first, so it may be old.
   */
  readonly seen: (Row | undefined)[];
  /** The first of the limit's rows. Without shards, the first row is the only row. */
  readonly rows: readonly [RowId];
}

/**
 * The config of a call as a bucket. A limit is credits for all calls or for none: a missing row is a
 * balance of 0 for credits, and a full bucket for other kinds.
 *
 * @throws RateLimitConfigError for credits in place of another limit, and the reverse.
 */
function bucketLike(
  inline: RateLimitConfig | CreditsConfig,
  named: Bucket | undefined,
  name: string,
): Bucket {
  const own = isCredits(inline);
  if (named === undefined || isCredits(named) === own) return bucketConfig(inline);
  const message = own
    ? `config.kind of a call on "${name}" must not be "credits": a limit cannot become credits for ` +
      `one call; give the credits a name of their own in limits`
    : `config.kind of a call on "${name}" must be "credits", got "${inline.kind}": its balance is credits, ` +
      `which refill for no call; give the other limit a name of its own`;
  throw new RateLimitConfigError("config.kind", inline.kind, { message });
}

/** A call's own config, with the policies of the limit that the config does not set itself. */
function withPolicies(inline: Bucket, named?: Bucket): Bucket {
  if (named === undefined) return inline;
  return { ...inline, ...policiesOf(named), ...policiesOf(inline) };
}

/** The policies that a config sets: options about calls, and not about tokens. */
function policiesOf(config: Partial<Bucket> = {}) {
  const { shadow, whenStoreFails, rememberDenials, onceFor, holds, usage, warnAt } = config;
  return {
    ...(shadow !== undefined && { shadow }),
    ...(whenStoreFails !== undefined && { whenStoreFails }),
    ...(rememberDenials !== undefined && { rememberDenials }),
    ...(onceFor !== undefined && { onceFor }),
    ...(holds !== undefined && { holds }),
    ...(usage !== undefined && { usage }),
    ...(warnAt !== undefined && { warnAt }),
  };
}

/** The config of a call: its own, or the config that the limiter has under this name. */
export function configOf(
  configs: ReadonlyMap<string, Bucket>,
  name: string,
  inline: LimitConfig | undefined,
): Bucket {
  const named = configs.get(name);
  if (inline !== undefined) {
    if (named === undefined) validateName(name);
    validateConfig(inline);
    if (inline.kind === "concurrency") throw noTokens(name);
    const config = withPolicies(bucketLike(inline, named, name), named);
    if (named?.holds) validateHolds(config, "config");
    return config;
  }
  if (named !== undefined) return named;
  throw new RateLimitInputError(
    "name",
    `unknown rate limit ${describe(name)}: add it to the limiter's limits, or give the call a config`,
  );
}

/**
 * @param storedKey the key of the limit's rows. The start of a window is derived from the stored key, so
 * that `prune` and `list`, which know only rows, derive the same start.
 */
export function resolveLimit(
  name: string,
  key: string | undefined,
  storedKey: string | undefined,
  given: Bucket,
  defaults: LimitDefaults = NO_POLICIES,
  plan?: string,
): ResolvedLimit {
  // Clients get the config, so these options are taken out: an attacker must not see that an outage opens
  // the limit.
  const {
    whenStoreFails = defaults.whenStoreFails,
    rememberDenials: rememberFor = defaults.rememberDenials,
    lease,
    onceFor,
    holds,
    usage,
    ...shown
  } = withStart(given, name, storedKey);
  const config: Bucket = shown;
  const part = shardConfig(config);
  const row = rowId(name, storedKey ?? "", 0, part);
  if (usage) validateRoom(row.key, END_OF_COUNTER, `"${name}" counts its usage`);
  if (config.warnAt) validateRoom(row.key, END_OF_WARNING, `"${name}" has warnAt`);
  // A shadow denies no call, and reports what the row says.
  const isRemembered = rememberFor > 0 && !config.shadow;
  const memory = isRemembered ? "memory" : "row";
  return {
    name,
    key,
    config,
    part,
    most: mostHeld(config),
    floor: floorOf(part, false),
    marks: config.warnAt && marksOf(config),
    quietMost: config.warnAt ? quietMost(config) : Infinity,
    isPlain: mayBePlain(part),
    failsOpen: whenStoreFails === "allow",
    rememberFor: isRemembered ? rememberFor : 0,
    via: lease === undefined ? memory : isRemembered ? "block, memory" : "block",
    onceFor,
    usage: usage ? usageTerms(usage) : undefined,
    counted: countedRows(row, config),
    holdRows: holds ? [row, rowId(sideName(HELD, name), row.key, 0)] : undefined,
    holdCount: holds ? rowId(sideName(HELD, name), row.key, COUNT_SHARD) : undefined,
    answer: undefined,
    override: undefined,
    plan,
    lease: lease && leaseTerms(config, lease.ms),
    seen: [],
    rows: [row],
  };
}

/** The row of a limit, and the row that counts its closings. `undefined` where closings are not counted. */
function countedRows(row: RowId, config: Bucket): readonly [RowId, RowId] | undefined {
  const counting = strikesConfig(config);
  return counting && [row, rowId(sideName(STRIKES, row.name), row.key, 0, counting)];
}
