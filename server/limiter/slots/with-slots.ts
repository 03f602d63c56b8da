/**
 * The operations of a limiter that also has limits of slots. The other operations want tokens, and
 * refuse the names of slots. A limiter without slots does not come here.
 */
import type { RateLimitSnapshot } from "../../../core/snapshot.js";
import { describe, RateLimitConfigError } from "../../../core/errors.js";
import { denialError } from "../limits/denial-error.js";
import type { KeyOptions } from "../types/call.js";
import type { LimitOptions } from "../types/limit.js";
import type { ValueOptions } from "../types/read.js";
import type { Context } from "../context/context.js";
import { KEY_OPTIONS } from "../types/call.js";
import { LIMIT_OPTIONS } from "../types/limit.js";
import { rejectUnknownOptions } from "../types/known-options.js";
import type { createOperations, Limit } from "../verbs/operations.js";
import { deletion } from "../verbs/reset.js";
import { checkOf, readSlots, type SlotsState, valueOf } from "./read-slots.js";
import type { ResolveSlots } from "./slots-limit.js";

type Operations = ReturnType<typeof createOperations>;

export function withSlots(
  operations: Operations,
  context: Context,
  isSlots: (name: string) => boolean,
  resolve: ResolveSlots,
): Operations {
  const { apply, environment } = context;
  const read = async (name: string, options: KeyOptions) => {
    const limit = resolve(name, options);
    const [state] = (await apply([readSlots(limit, environment.clock)])) as [SlotsState];
    return { limit, state };
  };
  return {
    ...operations,
    check: (async (name: string, options: LimitOptions = {}) => {
      if (!isSlots(name)) return operations.check(name, options);
      rejectUnknownOptions(options, LIMIT_OPTIONS, "check()");
      if ("atLeast" in options) throw noTokensOf(name, options.atLeast);
      const { limit, state } = await read(name, options);
      const result = checkOf(state, limit);
      if (result.ok || !options.throws) return result;
      const of = { limit: { name, config: state.config } };
      throw denialError(environment.denialMessage, of, result, state.now);
    }) as Limit,
    async getValue(name: string, options: ValueOptions = {}) {
      if (!isSlots(name)) return operations.getValue(name, options);
      rejectUnknownOptions(options, KEY_OPTIONS, "getValue()");
      return valueOf((await read(name, options as KeyOptions)).state);
    },
    async reset(name: string, options: KeyOptions = {}) {
      if (!isSlots(name)) return operations.reset(name, options);
      rejectUnknownOptions(options, KEY_OPTIONS, "reset()");
      const limit = resolve(name, options, false);
      // Callers that wait join the line anew.
      await apply([...limit.counted, ...limit.seats()].map((row) => deletion([row])));
      limit.seen.length = 0;
      context.onChange(name, limit.key);
    },
    async snapshots<TName extends string>(items: readonly (KeyOptions & { name: string })[]) {
      const ofTokens = items.filter(({ name }) => !isSlots(name));
      const limits = items
        .filter(({ name }) => isSlots(name))
        .map((item) => resolve(item.name, item));
      const [tokens, states] = await Promise.all([
        ofTokens.length === 0 ? [] : operations.snapshots<TName>(ofTokens),
        apply(limits.map((limit) => readSlots(limit, environment.clock))),
      ]);
      const [nextTokens, nextSlots] = [tokens.values(), states.values()];
      return items.map(({ name }): RateLimitSnapshot<TName> => {
        if (!isSlots(name)) return nextTokens.next().value!;
        return { name: name as TName, ...nextSlots.next().value! };
      });
    },
  };
}

function noTokensOf(name: string, atLeast: unknown): RateLimitConfigError {
  const message = `atLeast is for limits of tokens, and ${describe(name)} has slots; leave it out`;
  return new RateLimitConfigError("atLeast", atLeast, { message });
}
