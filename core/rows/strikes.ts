/**
 * Closings that grow: `blockFor` as a list. A row beside the limit's own counts the closings. That row is
 * a fixed window: it starts at the end of the last closing, and lasts for the quiet time (`forgiveAfter`).
 * So a row that is full again has forgotten all closings.
 *
 * - `used`: how many closings there were.
 * - `ts`: when the last closing ends.
 */
import { usedAt } from "./reading.js";
import type { Bucket } from "../config.js";
import type { FixedWindowConfig } from "../limit-config.js";
import { MOST_BLOCKS } from "../validate-blocks.js";
import type { Row } from "./row.js";
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

/** The config of a limit, with the length of the next closing in place of the list. */
export function withNextBlock<TConfig extends Bucket>(
  config: TConfig,
  strikes: Row | null | undefined,
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
 * @param closed what the closing left in the limit's own row: when it opens.
 */
export function struckRow(
  config: Bucket,
  strikes: Row | null | undefined,
  now: number,
  closed: Row,
): Row {
  return { used: Math.min(strikesIn(config, strikes, now) + 1, MOST_BLOCKS), ts: closed.ts };
}

/** How many closings are counted. */
function strikesIn(config: Bucket, strikes: Row | null | undefined, now: number): number {
  return usedAt(strikes, strikesConfig(config)!, now).used;
}

/** The rate of the window: above every count, so that the next window forgets all closings. */
const FORGIVEN = MOST_BLOCKS + 1;
