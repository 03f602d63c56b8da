/**
 * All kinds of rows. `prune`, `list` and `forget` read the lists below, so they find a new kind, too.
 *
 * | kind    | name                               | rows of a key    | file         |
 * | ------- | ---------------------------------- | ---------------- | ------------ |
 * | bucket  | that of its limit                  | one per shard    | `bucket.ts`  |
 * | credits | that of its limit                  | one              | `credits.ts` |
 * | slot    | that of its limit                  | one per slot     | `slot.ts`    |
 * | marker  | `trpc-rate-limit:once:` + limit    | up to 3 per id   | `marker.ts`  |
 * | strikes | `trpc-rate-limit:strikes:` + limit | one              | `strikes.ts` |
 * | seat    | `trpc-rate-limit:line:` + limit    | up to 100        | `seat.ts`    |
 * | hold    | `trpc-rate-limit:hold:` + limit    | one per id       | `hold.ts`    |
 * | held    | `trpc-rate-limit:held:` + limit    | one              | `hold.ts`    |
 * | usage   | `trpc-rate-limit:usage:` + limit   | up to 5 per span | `usage.ts`   |
 * | crossed | `trpc-rate-limit:crossed:` + limit | one              | `warning.ts` |
 * | warning | `trpc-rate-limit:warning:` + limit | one per warning  | `warning.ts` |
 * | span    | `trpc-rate-limit:span:` + limit    | one per span     | `span.ts`    |
 */
import { type Bucket, shardConfig } from "../config.js";
import type { ConcurrencyConfig } from "../limit-config.js";
import { HELD, HOLDS } from "./hold.js";
import { MARKERS } from "./marker.js";
import { SEATS } from "./seat.js";
import { SPANS } from "./span.js";
import { RESERVED_PREFIX, type SideRows } from "./side-rows.js";
import { MOST_SLOT_TTL, slotBucket } from "./slot.js";
import { STRIKES } from "./strikes.js";
import { USAGE } from "./usage.js";
import { CROSSED, WARNINGS } from "./warning.js";

export const SIDE_ROWS: readonly SideRows[] = [
  MARKERS,
  STRIKES,
  SEATS,
  HOLDS,
  HELD,
  USAGE,
  SPANS,
  CROSSED,
  WARNINGS,
];

/** The kind of the rows of this name; `undefined` where they are those of a limit itself. */
export function sideRowsOf(name: string): SideRows | undefined {
  if (!name.startsWith(RESERVED_PREFIX)) return undefined;
  return SIDE_ROWS.find(({ prefix }) => name.startsWith(prefix));
}

/**
 * The config that tells when the own rows of a limit are full. A call may have a config with a longer
 * `ttl` than the limit's, so a slot is full after the longest `ttl` of all.
 */
export function ownConfig(config: Bucket | ConcurrencyConfig): Bucket {
  if (config.kind !== "concurrency") return shardConfig(config);
  return slotBucket({ ...config, ttl: MOST_SLOT_TTL });
}

/** The most rows that a limit has of its own for one key. */
export function rowsPerKey(config: Bucket | ConcurrencyConfig): number {
  return config.kind === "concurrency" ? config.slots : (config.shards ?? 1);
}
