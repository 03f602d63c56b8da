/**
 * A limiter as its operators use it: by stored keys, as `list` shows them, which are not hashed again. A
 * read or a change by an operator is no decision of a caller, so no listener of decisions hears of it.
 */
import { shownConfig } from "../../../core/with-calendar.js";
import type { ShownConfig } from "../../../core/config.js";
import { OVERRIDES_NAME } from "../../changes/overrides-digest.js";
import type { Context } from "../context/context.js";
import { UNHEARD } from "../context/decisions.js";
import { createStoredKey } from "../limits/hash-key.js";
import { type Inside, insideOf } from "./inside.js";
import type { Parts } from "./limiter-parts.js";
import { createOperations } from "../verbs/operations.js";
import { noOverrides } from "../limits/overrides/override-operations.js";
import { createLimitResolver } from "../limits/limit-resolver.js";
import { createSlots } from "../slots/create-slots.js";

export type Operator = ReturnType<typeof createOperator>;

/** @throws RateLimitConfigError for an object that `createRateLimiter` has not made. */
export function createOperator(limiter: object) {
  const inside = insideOf(limiter);
  const { parts, whenKnown, decisions } = inside;
  const { settings, overriding } = parts;
  const { configs, slotConfigs, plans, clock, store } = settings;
  const isHashed = settings.hashKey !== undefined;
  // Only checks keys, and does not hash them.
  const asStored = createStoredKey(undefined);
  const slots = slotConfigs.size > 0 ? createSlots(slotConfigs, plans, asStored, false) : undefined;
  const resolveTokens = createLimitResolver(configs, plans, asStored, settings.defaults);
  const resolving = slots?.refusing(resolveTokens) ?? resolveTokens;
  // Where the plan of a key is not known, the largest plan is shown.
  const resolveOwn: Context["resolve"] = (name, of) => resolving(name, of, false);
  const resolve: Context["resolve"] =
    overriding === undefined
      ? resolveOwn
      : (name, of) => overriding.applied(resolveOwn(name, of), of);
  const context = contextOf(inside, resolve, isHashed);
  const ofTokens = createOperations(context, whenKnown);
  return {
    operations: slots?.operations(ofTokens, context) ?? ofTokens,
    overrides: overriding?.operationsBy(resolveOwn) ?? noOverrides(),
    /** The table of overrides with its log; `undefined` for a limiter without overrides. */
    overriding,
    context,
    store,
    whenKnown,
    resolve,
    clock,
    configs,
    slotConfigs,
    isHashed,
    plans,
    planOf: createPlanOf(parts, isHashed),
    /** The key under which a caller's rows are stored. */
    toStoredKey: parts.toStoredKey,
    decisions,
    channel: settings.channel,
    sleep: settings.sleep,
    /** Whether the limits are on now (`enabled`). */
    isOn: () => parts.switching?.isOn() ?? true,

    /**
     * The config that the limit itself has, without overrides; for a limit with plans, the config of the
     * largest plan.
     */
    ownConfig(name: string): ShownConfig {
      if (slots?.has(name)) return slots.configOf(name, {});
      return shownConfig(resolveOwn(name, {}).config, 0, clock());
    },
  };
}

function contextOf(
  { context, parts: { changes } }: Inside,
  resolve: Context["resolve"],
  isHashed: boolean,
): Context {
  return {
    ...context,
    resolve,
    // Pages listen for changes of the caller's key. Where only the hash of the key is known, every page
    // reads again.
    onChange: isHashed ? () => changes.tell(OVERRIDES_NAME, undefined) : changes.tell,
    decisions: UNHEARD,
    turn: undefined,
  };
}

/**
 * @returns a function for the plan that the limiter's own `plan` function says; `undefined` where no
 * function says it. Where that function fails, operators still see everything else. `key` is the stored
 * key. `given` is the same key as its caller has it, where it is known: the function knows no plan of a
 * hash.
 */
function createPlanOf({ asked, settings: { plans } }: Parts, isHashed: boolean) {
  return async (
    name: string,
    key: string | undefined,
    given: string | undefined = isHashed ? undefined : key,
  ): Promise<string | undefined> => {
    const isHash = key !== undefined && given === undefined;
    if (asked === undefined || isHash || !plans.has(name)) return undefined;
    try {
      return await asked.of(name, given);
    } catch {
      return undefined;
    }
  };
}
