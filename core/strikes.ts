/**
 * Closings that grow: `blockFor` as a list. A row beside the limit's own counts the closings. It is a
 * fixed window that has a token for each entry of the list, and loses one with each closing. Its
 * window starts when the closing ends and lasts for the quiet time, so a row that is full again has
 * forgotten all closings.
 */
import { heldAt, type RateLimitState } from "./calculate.js";
import { type FixedWindowConfig, type RateLimitConfig, shortestBlock } from "./config.js";
import { windowAfter } from "./windows.js";

/** The config of the row that counts the closings; `undefined` without a list. */
export function strikesConfig({
  blockFor,
  forgiveAfter,
}: Pick<RateLimitConfig, "blockFor" | "forgiveAfter">): FixedWindowConfig | undefined {
  if (typeof blockFor !== "object") return undefined;
  const period = forgiveAfter ?? blockFor.at(-1)!;
  return { kind: "fixed window", rate: blockFor.length, period };
}

/** The config of a limit, with the length of the closing that would come next instead of a list. */
export function withNextBlock<TConfig extends RateLimitConfig>(
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
  config: RateLimitConfig,
  strikes: RateLimitState | null | undefined,
  now: number,
  closed: RateLimitState,
  closing: RateLimitConfig,
): RateLimitState {
  const left = strikesConfig(config)!.rate - strikesIn(config, strikes, now) - 1;
  return { value: Math.max(0, left), ts: Math.ceil(opensAt(closed, closing)) };
}

/** When a bucket that was closed opens, epoch ms. */
function opensAt(closed: RateLimitState, config: RateLimitConfig): number {
  if (config.kind === "token bucket") return closed.ts + shortestBlock(config)!;
  // In the window after the one that repays the debt.
  return windowAfter(config, closed.ts, Math.round(-closed.value / config.rate) + 1);
}

/** How many closings are counted. */
function strikesIn(
  config: RateLimitConfig,
  strikes: RateLimitState | null | undefined,
  now: number,
): number {
  const counting = strikesConfig(config)!;
  return Math.max(0, Math.round(counting.rate - heldAt(strikes, counting, now).value));
}
