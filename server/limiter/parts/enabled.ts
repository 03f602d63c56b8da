/**
 * The switch of a limiter (`enabled`): chooses, for each call, between the operations of the limiter and
 * those of a limiter that is off. The latter are the same verbs in a context that has no store, and their
 * results say `disabled`. A limiter without the option has no switch.
 */
import { RateLimitConfigError } from "../../../core/errors.js";
import type { RateLimitLogger } from "../../report/logger.js";
import { disabledAnswers } from "../answers/disabled.js";
import type { Context } from "../context/context.js";
import { switchedOff } from "../limits/overrides/answered-limit.js";
import { enterDisabled } from "../slots/enter-disabled.js";
import { createSlots } from "../slots/create-slots.js";
import type { EnterOptions } from "../types/enter.js";
import type { DecisionListener } from "../types/limiter-options.js";
import { createAcquire } from "../verbs/acquire/acquire.js";
import { createOperations } from "../verbs/operations.js";
import { atOnce } from "../verbs/when-known.js";
import type { Settings } from "./checked-options.js";

type Operations = ReturnType<typeof createOperations>;
type AsyncFunction = (...args: never) => Promise<unknown>;

/** The parts of the limiter that a switch needs. */
export interface SwitchParts {
  settings: Settings;
  logger: RateLimitLogger;
  toStoredKey(key: string | undefined): string | undefined;
  /** Resolves a limit without overrides. */
  resolve: Context["resolve"];
}

/** @returns `undefined` for a limiter that is always on. Its calls do no extra work. */
export function createSwitch(parts: SwitchParts): Switch | undefined {
  return parts.settings.enabled === true ? undefined : new Switch(parts);
}

export class Switch {
  /** Whether the limiter may be on. */
  readonly mayBeOn: boolean;
  readonly #parts: SwitchParts;
  readonly #slots: ReturnType<typeof createSlots> | undefined;
  #wasOn = true;

  constructor(parts: SwitchParts) {
    const { slotConfigs, plans, resolvePlan, enabled } = parts.settings;
    this.#parts = parts;
    // The `plan` function is not asked, so a call may say no plan.
    const needsPlan = resolvePlan === undefined;
    this.#slots =
      slotConfigs.size > 0
        ? createSlots(slotConfigs, plans, parts.toStoredKey, needsPlan)
        : undefined;
    this.mayBeOn = enabled !== false;
    if (!this.mayBeOn) this.isOn();
  }

  /**
   * Whether the limiter is on now. Reports it once when the limiter is off.
   *
   * @throws RateLimitConfigError for an answer of the option's function that is no boolean. An error of the
   * function is rethrown.
   */
  isOn(): boolean {
    const { enabled } = this.#parts.settings;
    const isOn = typeof enabled === "function" ? enabled() : enabled;
    if (typeof isOn !== "boolean") {
      throw new RateLimitConfigError("enabled", isOn, "a boolean, or a function that returns one");
    }
    if (!isOn && this.#wasOn) this.#parts.logger.warn(WARNING);
    this.#wasOn = isOn;
    return isOn;
  }

  /** @param on the operations of the limiter, which have been made with `context`. */
  operations(on: Operations, context: Context): Operations {
    const ofContext = this.#contextOf(context);
    const ofTokens = createOperations(ofContext, atOnce);
    const off = this.#slots?.operations(ofTokens, ofContext) ?? ofTokens;
    const chosen = Object.keys(on).map((verb) => {
      const of = verb as keyof Operations;
      // What is told to open pages is also true while the limiter is off.
      return [verb, of === "planChanged" ? on[of] : this.#choose(of, on[of], off[of])];
    });
    return Object.fromEntries(chosen) as Operations;
  }

  acquire<TAcquire extends AsyncFunction>(on: TAcquire, context: Context): TAcquire {
    const off = createAcquire(this.#contextOf(context), this.#parts.settings.sleep);
    return this.#choose("acquire", on, off);
  }

  enter<TEnter extends AsyncFunction>(on: TEnter, context: Context): TEnter {
    const off = this.#contextOf(context);
    return this.#choose("enter", on, async (name: string, options?: EnterOptions) =>
      enterDisabled(off, this.#slots, name, options),
    );
  }

  #choose<TOn extends AsyncFunction>(verb: string, on: TOn, off: AsyncFunction): TOn {
    const chosen = async (...args: never) =>
      this.isOn() ? on(...args) : said(await off(...args), SAID.get(verb));
    return chosen as unknown as TOn;
  }

  #contextOf(context: Context): Context {
    const { resolve, settings } = this.#parts;
    const mustSay = settings.resolvePlan === undefined;
    const { decisions } = context;
    return {
      ...context,
      ...disabledAnswers(),
      resolve: (name, options, needsPlan = true) =>
        switchedOff(resolve(name, options, needsPlan && mustSay)),
      decisions: {
        get heard() {
          return toldDisabled(decisions.heard);
        },
      },
      usage: { add() {} },
      list: async () => [],
      earliest: async () => [],
      onChange() {},
      crossed() {},
      endLeases() {},
      turn: undefined,
      shared: undefined,
      denials: undefined,
      leases: undefined,
      lines: undefined,
    };
  }
}

const WARNING =
  "trpc-rate-limit: the rate limits are switched off by the option enabled: every call passes, and nothing " +
  "is counted. This is reported once, until they are on again.";

const DISABLED = () => ({ disabled: true });

/** What the results of each verb say. The verbs have run on full buckets, and nothing was written. */
const SAID: ReadonlyMap<string, () => object> = new Map([
  ...[
    "limit",
    "check",
    "acquire",
    "limitAll",
    "limitFirst",
    "enter",
    "charge",
    "refund",
    "release",
  ].map((verb) => [verb, DISABLED] as const),
  ["credit", () => ({ credited: 0, disabled: true })],
  ["observe", () => ({ lowered: false, disabled: true })],
  ["settle", () => ({ settled: false, disabled: true })],
]);

/** @param heard tells all listeners; they may come and go. */
function toldDisabled(heard: DecisionListener | undefined): DecisionListener | undefined {
  return heard && ((event) => heard({ ...event, result: said({ ...event.result }, DISABLED) }));
}

/** Changes the result itself, and not a copy, because a copy could not be settled. */
function said<TResult>(result: TResult, of: (() => object) | undefined): TResult {
  if (of === undefined) return result;
  const { results = [], paid } = result as { results?: readonly object[]; paid?: unknown };
  for (const each of results) said(each, DISABLED);
  return Object.assign(result as object, paid && { paid: [] }, of()) as TResult;
}
