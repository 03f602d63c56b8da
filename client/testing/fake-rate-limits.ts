/**
 * Limits for tests of components: a real observer, predicting as ever, of a server that is not
 * there and whose limits stand as the test says. For `<RateLimitProvider observer={…}>`.
 */
import { capacityOf, type RateLimitConfig } from "../../core/config.js";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import { idOf } from "../limit-entry.js";
import type { RateLimitObserver } from "../observer-types.js";
import { createRateLimitObserver } from "../observer.js";
import { snapshotOfRefusal } from "../refusal.js";
import type { RateLimitItem } from "../transport.js";

export interface FakeRateLimitsOptions<TName extends string = string> {
  /**
   * The configs of limits that matter to the test, such as the server's own.
   * @default for each name one token a second, and one at most
   */
  limits?: { readonly [TLimit in TName]?: RateLimitConfig };
  /** This machine's time, epoch ms. A test runner's fake timers move the default. @default Date.now */
  clock?: () => number;
}

/** Everything is granted until the test says otherwise. Wrap changes in React's `act`. */
export interface FakeRateLimits<TName extends string = string> extends RateLimitObserver {
  /**
   * From now on a limit refuses calls until `retryAt`, epoch ms, and by itself no longer.
   *
   * @param count calls for as many tokens or more. @default 1
   */
  refuse(limit: TName | RateLimitItem<TName>, retryAt: number, count?: number): void;
  /** A limit has `value` tokens left now. @default all that it can hold */
  fill(limit: TName | RateLimitItem<TName>, value?: number): void;
}

export function createFakeRateLimits<const TName extends string = string>(
  options: FakeRateLimitsOptions<TName> = {},
): FakeRateLimits<TName> {
  const { clock = () => Date.now() } = options;
  const limits = options.limits as Readonly<Record<string, RateLimitConfig>> | undefined;
  const states = new Map<string, RateLimitSnapshot>();

  function stateOf(item: RateLimitItem): RateLimitSnapshot {
    const id = idOf(item);
    const state = states.get(id) ?? filled(item);
    states.set(id, state);
    // Read at this moment; it says nothing new.
    return { ...state, now: clock() };
  }

  function configOf(name: string): RateLimitConfig {
    return limits?.[name] ?? { kind: "token bucket", rate: 1, period: 1000 };
  }

  function filled({ name, key }: RateLimitItem, value?: number): RateLimitSnapshot {
    const [config, now] = [configOf(name), clock()];
    const held = { value: value ?? capacityOf(config), ts: windowStart(config, now) };
    return { name, ...(key !== undefined && { key }), ...held, config, now };
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

  /** Known before anybody looks, so that the first render shows it. */
  function followed<TItem extends RateLimitItem>(item: TItem): TItem {
    if (observer.config(item) === undefined) {
      observer.observe(item, 0, () => {});
      observer.receive(stateOf(item));
    }
    return item;
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
    left: (item) => observer.left(followed(item)),
    config: (item) => observer.config(followed(item)),
    check: (item, at, count) => observer.check(followed(item), at, count),
    debit: (item, count) => observer.debit(followed(item), count),
    refuse(limit, retryAt, count = 1) {
      const item = itemOf(limit);
      const [config, now] = [configOf(item.name), clock()];
      const retryAfter = Math.ceil(retryAt - now);
      if (!(retryAfter > 0)) {
        throw new RangeError(`retryAt must be after the clock's ${now}, got ${retryAt}`);
      }
      const facts = { kind: "RateLimited" as const, name: item.name, value: 0, config, now };
      set(snapshotOfRefusal(item, { ...facts, retryAfter }, count));
    },
    fill: (limit, value) => set(filled(itemOf(limit), value)),
  };
}

function itemOf(limit: string | RateLimitItem): RateLimitItem {
  return typeof limit === "string" ? { name: limit } : limit;
}

function windowStart(config: RateLimitConfig, now: number): number {
  if (config.kind === "token bucket") return now;
  const { start = 0, period } = config;
  return start + Math.floor((now - start) / period) * period;
}
