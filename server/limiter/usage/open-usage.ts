/** The usage of a limiter: sums it up, and writes it at intervals. */
import { RateLimitConfigError } from "../../../core/errors.js";
import type { UsageConfig } from "../../../core/limit-config.js";
import { spanAt } from "../../../core/rows/usage.js";
import type { Usage } from "../../../core/usage.js";
import type { WaitUntil } from "../../report/wait-until.js";
import { requestsOwnIo } from "../../runtime/requests-own-io.js";
import type { CountedLimit } from "../claims/counters.js";
import { UsageFlush, type UsageFlushParts } from "./usage-flush.js";
import { LATE, UsageSums } from "./usage-sums.js";

/** Counts the usage of calls on limits with `usage`. */
export interface UsageCounter {
  /**
   * @param isInRow whether the usage is counted in the row of its key already, see `usageWrites`. The
   * usage is then only added to the sum of all keys.
   */
  add(limit: CountedLimit, usage: Partial<Usage>, isInRow?: boolean, now?: number): void;
}

export type UsageParts = Omit<UsageFlushParts, "sums">;

export type OpenUsage = ReturnType<typeof openUsage>;

export function openUsage(parts: UsageParts) {
  const sums = new UsageSums();
  const flushing = new UsageFlush({ ...parts, sums });
  const counter: UsageCounter = {
    add({ name, usage: terms, rows }, usage, isInRow = false, now = parts.clock()) {
      if (terms === undefined) return;
      const start = spanAt(terms.every, now);
      const { key } = rows[0];
      if (!isInRow) flushing.counted(sums.add(name, terms, start, key, usage));
      else if (key !== "") {
        sums.addToAll(name, terms, start, usage);
        flushing.counted(true);
      }
    },
  };
  return {
    counter,
    flush: () => flushing.flush(),
    /** Forgets the usage of a stored key that is not written yet. */
    async forget(key: string): Promise<void> {
      await flushing.idle();
      sums.forget(key);
    },
  };
}

/**
 * @param usages `usage` of the limits.
 * @throws RateLimitConfigError where there are no timers and no `waitUntil`, and for sums that may wait until
 * their span was told.
 */
export function checkUsage(
  usages: readonly (boolean | UsageConfig)[],
  waitUntil: WaitUntil | undefined,
  flushUsage: number,
): void {
  if (usages.some(tellsChanges) && flushUsage > LATE / 2) {
    const problem = `at most ${LATE / 2} ms where a limit has usage.changes, so that sums count in their own span`;
    throw new RateLimitConfigError("flushUsage", flushUsage, problem);
  }
  if (!usages.some(Boolean) || waitUntil !== undefined || !requestsOwnIo()) return;
  throw new RateLimitConfigError("usage", true, { message: NO_TIMERS });
}

const tellsChanges = (usage: boolean | UsageConfig): boolean =>
  typeof usage === "object" && usage.changes === true;

const NO_TIMERS =
  "usage needs waitUntil on Cloudflare Workers, where no timer outlives its request; give " +
  'createRateLimiter the waitUntil of "cloudflare:workers"';

/** The usage of a transaction. The usage counts once the transaction has been committed. */
export class PendingUsage implements UsageCounter {
  readonly #added: (readonly [CountedLimit, Partial<Usage>, boolean, number])[] = [];

  constructor(
    private readonly counter: UsageCounter,
    private readonly clock: () => number,
  ) {}

  add(limit: CountedLimit, usage: Partial<Usage>, isInRow = false, now = this.clock()): void {
    this.#added.push([limit, usage, isInRow, now]);
  }

  committed(): void {
    for (const each of this.#added) this.counter.add(...each);
  }
}
