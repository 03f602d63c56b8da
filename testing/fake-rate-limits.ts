/**
 * Limits for tests of components: a real observer without a server. The test sets the state of each
 * limit. For `<RateLimitProvider observer={…}>`.
 */
import { capacityOf, type ShownConfig } from "../core/config.js";
import type { LimitConfig } from "../core/limit-config.js";
import type { PlannedConfig } from "../server/limiter/types/plan-types.js";
import { type ConfigOfPlan, configOfPlan } from "./config-of-plan.js";
import { bucketConfig, isCredits } from "../core/rows/credits.js";
import { describe } from "../core/errors.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { slotsConfig } from "../core/rows/slot.js";
import { withCalendar, shownConfig } from "../core/with-calendar.js";
import { windowAt } from "../core/windows.js";
import { snapshotOfDenial } from "../client/denial.js";
import { idOf } from "../client/limit-entry.js";
import { createRateLimitObserver } from "../client/observer.js";
import type { RateLimitItem, RateLimitObserver } from "../client/types.js";

/** The options of `createFakeRateLimits`. */
export interface FakeRateLimitsOptions<TName extends string = string> {
  /**
   * The configs of the limits, such as the server's own. With configs, `deny` and `fill` reject other
   * names.
   * @default every name, each with one token a second and a capacity of one
   */
  limits?: { readonly [TLimit in TName]?: LimitConfig | PlannedConfig };
  /**
   * The plan of the visitor, for limits with plans.
   * @default the plan that a limit names first
   */
  plan?: string | undefined;
  /** This machine's time, epoch ms. A test runner's fake timers move the default. @default Date.now */
  clock?: () => number;
}

/** Every call is granted until the test changes a limit. Wrap changes in React's `act`. */
export interface FakeRateLimits<TName extends string = string> extends RateLimitObserver {
  /**
   * A limit denies calls from now until `retryAt`, epoch ms. Credits are used up instead, and no wait
   * ends the denial.
   *
   * @param count calls for this many tokens or more are denied. @default 1
   * @throws RangeError for a `retryAt` that has passed, for a `key` that is there and `undefined`, and for a
   * name that is not in `limits`.
   */
  deny(limit: TName | RateLimitItem<TName>, retryAt: number, count?: number): void;
  /**
   * A limit holds `value` tokens now.
   *
   * @param value by default, the capacity of the limit.
   * @throws RangeError for a `key` that is there and `undefined`, and for a name that is not in
   * `limits`.
   */
  fill(limit: TName | RateLimitItem<TName>, value?: number): void;
}

/** The part of a limiter that has its names. */
interface NamedLimits {
  readonly limits: Readonly<Record<string, unknown>>;
}

/**
 * An observer for tests of components, without a server. Give it to
 * `<RateLimitProvider observer={…}>`.
 *
 * @typeParam TName the names of the limits; by default, the names in `limits`, or any name without
 * `limits`.
 * @throws RangeError for a `plan` that a limit with plans does not have.
 *
 * @example
 * import { act, render } from "@testing-library/react";
 * import { createFakeRateLimits } from "trpc-rate-limit/testing";
 *
 * const limits = createFakeRateLimits();
 * render(
 *   <RateLimitProvider observer={limits}>
 *     <Composer />
 *   </RateLimitProvider>,
 * );
 * act(() => limits.deny("sendMessage", 5_000));
 */
export function createFakeRateLimits<const TName extends string = string>(
  options?: FakeRateLimitsOptions<TName>,
): FakeRateLimits<TName>;
/**
 * An observer for tests of components, without a server. Give it to
 * `<RateLimitProvider observer={…}>`.
 *
 * @typeParam TLimiter the type of the server's limiter, `typeof limiter`. Other names do not compile.
 */
export function createFakeRateLimits<TLimiter extends NamedLimits>(
  options?: FakeRateLimitsOptions<keyof TLimiter["limits"] & string>,
): FakeRateLimits<keyof TLimiter["limits"] & string>;
export function createFakeRateLimits(options: FakeRateLimitsOptions = {}): FakeRateLimits {
  const { clock = () => Date.now(), plan } = options;
  const limits: Readonly<Record<string, LimitConfig | PlannedConfig | undefined>> | undefined =
    options.limits;
  const states = new Map<string, RateLimitSnapshot>();
  // Throws for a plan that a limit does not have.
  for (const name of Object.keys(limits ?? {})) planOf(name);

  function stateOf(item: RateLimitItem): RateLimitSnapshot {
    const id = idOf(item);
    const state = states.get(id) ?? filled(item);
    states.set(id, state);
    // The state may be old. `now` is the time of this read.
    return { ...state, now: clock() };
  }

  function planOf(name: string): ConfigOfPlan {
    return configOfPlan(limits?.[name] ?? { kind: "token bucket", rate: 1, period: 1000 }, plan);
  }

  function configOf(name: string): ShownConfig {
    const { config } = planOf(name);
    return config.kind === "concurrency"
      ? slotsConfig(config, [])
      : shownConfig(bucketConfig(config), 0, clock());
  }

  function filled({ name, key }: RateLimitItem, value?: number): RateLimitSnapshot {
    const now = clock();
    const config = shownConfig(withCalendar(configOf(name)), 0, now);
    const { plan: own, isNone } = planOf(name);
    const held = {
      value: value ?? (isNone ? 0 : capacityOf(config)),
      ts: windowStart(config, now),
    };
    const said = { ...(key !== undefined && { key }), ...(own !== undefined && { plan: own }) };
    return { name, ...said, ...held, config, now };
  }

  const observer = createRateLimitObserver({
    clock,
    transport: {
      status: (item) => Promise.resolve(stateOf(item)),
      watch(items, { onSnapshot }) {
        for (const item of items) onSnapshot(stateOf(item));
        return () => {};
      },
    },
  });

  /** Follows a limit before a component does, so that the first render shows it. */
  function followed<TItem extends RateLimitItem>(item: TItem): TItem {
    if (observer.config(item) === undefined) {
      observer.observe(item, 0, () => {});
      observer.receive(stateOf(item));
    }
    return item;
  }

  function knownItem(limit: string | RateLimitItem): RateLimitItem {
    const item = typeof limit === "string" ? { name: limit } : limit;
    if (item.key === undefined && "key" in item) {
      throw new RangeError("key must not be undefined: leave it out for the visitor's own bucket");
    }
    if (limits === undefined || Object.hasOwn(limits, item.name)) return item;
    const known = Object.keys(limits).join(", ");
    throw new RangeError(
      `unknown rate limit ${describe(item.name)}: the limits of createFakeRateLimits() are ${known}`,
    );
  }

  function set(snapshot: RateLimitSnapshot): void {
    states.set(idOf(snapshot), snapshot);
    observer.receive(stateOf(followed(snapshot)));
  }

  return {
    ...observer,
    connection: "live",
    observe: (item, ...watcher) => observer.observe(followed(item), ...watcher),
    status: (item, count) => observer.status(followed(item), count),
    remaining: (item) => observer.remaining(followed(item)),
    config: (item) => observer.config(followed(item)),
    check: (item, at, count) => observer.check(followed(item), at, count),
    debit: (item, count) => observer.debit(followed(item), count),
    deny(limit, retryAt, count = 1) {
      const item = knownItem(limit);
      const now = clock();
      const known = configOf(item.name);
      // All slots are free at `retryAt`.
      const config =
        known.slots === undefined
          ? known
          : { ...known, starts: Array.from({ length: known.slots }, () => Math.ceil(retryAt)) };
      const retryAfter = Math.ceil(retryAt - now);
      if (!(retryAfter > 0)) {
        throw new RangeError(`retryAt must be after the clock's ${now}, got ${retryAt}`);
      }
      const shown = configUntil(config, now, now + retryAfter);
      if (isCredits(known)) return set(filled(item, 0));
      const facts = { kind: "RateLimited" as const, name: item.name, value: 0, config: shown, now };
      set(snapshotOfDenial(item, { ...facts, retryAfter }, count));
    },
    fill: (limit, value) => set(filled(knownItem(limit), value)),
  };
}

/** The config, with a window that starts at `retryAt` if its windows are of a time zone. */
function configUntil(config: ShownConfig, now: number, retryAt: number): ShownConfig {
  const shown = shownConfig(withCalendar(config), 0, now);
  if (!shown.starts) return shown;
  return { ...shown, starts: [retryAt, ...shown.starts.filter((start) => start > retryAt)] };
}

function windowStart(config: ShownConfig, now: number): number {
  return config.kind !== "fixed window" ? now : windowAt(config, now);
}
