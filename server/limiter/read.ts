/** `getValue` and `snapshots`: reads that consume nothing. */
import { calculateRateLimit, type RateLimitState } from "../../core/calculate.js";
import { fullestShards, sumShards } from "../../core/shards.js";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import type { Decision } from "../store/store.js";
import type { KeyOptions, LimitValue } from "./call-options.js";
import { allRows } from "./choose-shards.js";
import type { Context, Environment } from "./context.js";
import { KEY_OPTIONS, rejectUnknownOptions } from "./known-options.js";
import type { ResolvedLimit } from "./resolve-limit.js";
import { withHeld } from "./with-held.js";

export async function getValue(
  { resolve, apply, environment, leases }: Context,
  name: string,
  options: KeyOptions = {},
): Promise<LimitValue> {
  rejectUnknownOptions(options, KEY_OPTIONS, "getValue()");
  const limit = resolve(name, options);
  const [state] = await apply([readState(limit, environment, leases)]);
  const { value, ts } = calculateRateLimit(state!, limit.config, state!.now);
  return { value, ts, config: limit.config };
}

export async function snapshots<TName extends string>(
  { resolve, apply, environment, leases }: Context,
  items: readonly (KeyOptions & { name: TName })[],
): Promise<RateLimitSnapshot<TName>[]> {
  const limits = items.map((item) => resolve(item.name, item));
  const states = await apply(limits.map((limit) => readState(limit, environment, leases)));
  return states.map((state, i) => {
    return { name: items[i]!.name, config: limits[i]!.config, ...state };
  });
}

/** Reads a limit: its row and the blocks of this process, or the sum of its shards. */
export function readState(
  limit: ResolvedLimit,
  { clock }: Pick<Environment, "clock">,
  leases: Context["leases"],
): Decision<RateLimitState & Pick<RateLimitSnapshot, "fullest" | "now">> {
  const { config } = limit;
  const { shards = 1 } = config;
  return {
    rows: allRows(limit),
    readOnly: true,
    decide(states) {
      const now = clock();
      const [only] = states;
      const { value, ts } = shards === 1 && only ? only : sumShards(states, config, now);
      const fullest = shards > 1 && { fullest: fullestShards(states, config, now) };
      return { result: { value: withHeld(leases, limit, value), ts, ...fullest, now } };
    },
  };
}
