/**
 * Closings that grow: `blockFor` as a list. A row beside the limit's own counts the closings. It is a
 * fixed window whose start is the end of the last closing, and which lasts for the quiet time. So a row
 * that is full again has forgotten all closings.
 *
 * The fraction of its value is the number of closings, in parts of 256: 2 closings are 2 / 256. So it
 * does not depend on the length of the list, which an application may change. The whole part is the
 * entries of the list that are left. Earlier versions read and write nothing else: where they have
 * written the row, it has no fraction, and the closings are counted by the list of today.
 */
import { heldAt, type RateLimitState } from "../calculate.js";
import { type Bucket, shortestBlock } from "../config.js";
import type { FixedWindowConfig } from "../limit-config.js";
import { MOST_BLOCKS } from "../validate-blocks.js";
import { windowAfter } from "../windows.js";
import { RESERVED_PREFIX, type SideRows } from "./side-rows.js";

export const STRIKES: SideRows = {
  prefix: `${RESERVED_PREFIX}strikes:`,
  configOf: (config) => (config.kind === "concurrency" ? undefined : strikesConfig(config)),
  optionOf: (config) =>
    config.kind !== "concurrency" && typeof config.blockFor === "object" ? "blockFor" : undefined,
};

/** The config of the row that counts the closings; `undefined` without a list. */
export function strikesConfig({
  blockFor,
  forgiveAfter,
}: Pick<Bucket, "blockFor" | "forgiveAfter">): FixedWindowConfig | undefined {
  if (typeof blockFor !== "object") return undefined;
  const period = forgiveAfter ?? blockFor.at(-1)!;
  return { kind: "fixed window", rate: FORGIVEN, period };
}

/** The config of a limit, with the length of the closing that would come next instead of a list. */
export function withNextBlock<TConfig extends Bucket>(
  config: TConfig,
  strikes: RateLimitState | null | undefined,
  now: number,
): TConfig {
  const { blockFor } = config;
  if (typeof blockFor !== "object") return config;
  const next = Math.min(strikesIn(config, strikes, now), blockFor.length - 1);
  return { ...config, blockFor: blockFor[next]! };
}

/**
 * The row of the closings after one more of them.
 *
 * @param closed what the closing left in the limit's own row.
 * @param closing the config by which it was closed, of `withNextBlock`.
 */
export function struckState(
  config: Bucket,
  strikes: RateLimitState | null | undefined,
  now: number,
  closed: RateLimitState,
  closing: Bucket,
): RateLimitState {
  const closings = Math.min(strikesIn(config, strikes, now) + 1, MOST_BLOCKS);
  const left = Math.max(0, listOf(config).length - closings);
  return { value: left + closings / PARTS, ts: Math.ceil(opensAt(closed, closing)) };
}

/** When a bucket that was closed opens, epoch ms. */
function opensAt(closed: RateLimitState, config: Bucket): number {
  if (config.kind !== "fixed window") return closed.ts + shortestBlock(config)!;
  // In the window after the one that repays the debt.
  return windowAfter(config, closed.ts, Math.round(-closed.value / config.rate) + 1);
}

/** How many closings are counted. */
function strikesIn(
  config: Bucket,
  strikes: RateLimitState | null | undefined,
  now: number,
): number {
  const { value } = heldAt(strikes, strikesConfig(config)!, now);
  if (value >= FORGIVEN) return 0;
  const counted = Math.round((value - Math.floor(value)) * PARTS);
  return counted > 0 ? counted : Math.max(0, listOf(config).length - value);
}

function listOf({ blockFor }: Bucket): readonly number[] {
  return blockFor as readonly number[];
}

/** What a full row holds: more than that of any list. */
const FORGIVEN = MOST_BLOCKS + 1;

/** More than twice the closings that are told apart: earlier versions round the value. */
const PARTS = 256;
