/** A clock for the tests of applications, which moves only when the test moves it. */

/** A clock to pass as `clock`, in epoch ms, and its `sleep` as `sleep`. */
export interface ManualClock {
  (): number;
  /** Moves the clock by `ms`, backwards if negative. Sleeps that end by then resolve. */
  advance(ms: number): void;
  /** Sets the clock to `now`, epoch ms. */
  set(now: number): void;
  /** Resolves once the clock has moved by `ms`. Rejects with the signal's reason on abort. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** How many sleeps have not ended yet. */
  sleepers(): number;
}

interface Sleeper {
  until: number;
  wake(): void;
}

/**
 * Creates a clock that stands still until `advance` or `set` moves it.
 *
 * @param start epoch ms. @default 2030-01-01T00:00:00Z, so that no test depends on today.
 *
 * @example
 * import { createManualClock } from "trpc-rate-limit/testing";
 * import { createRateLimiter, memoryStore, MINUTE } from "trpc-rate-limit/server";
 *
 * const clock = createManualClock();
 * const inTest = createRateLimiter({
 *   store: memoryStore(),
 *   clock,
 *   limits: { sendMessage: { kind: "fixed window", rate: 1, period: MINUTE } },
 * });
 * clock.advance(MINUTE);
 */
export function createManualClock(start: number = Date.UTC(2030, 0, 1)): ManualClock {
  let now = start;
  const sleepers = new Set<Sleeper>();

  function set(value: number): void {
    now = value;
    for (const sleeper of sleepers) {
      if (sleeper.until > now) continue;
      sleepers.delete(sleeper);
      sleeper.wake();
    }
  }

  return Object.assign(() => now, {
    set,
    advance: (ms: number) => set(now + ms),
    sleepers: () => sleepers.size,
    async sleep(ms: number, signal?: AbortSignal): Promise<void> {
      signal?.throwIfAborted();
      if (ms <= 0) return;
      await new Promise<void>((resolve, reject) => {
        const sleeper = { until: now + ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener(
          "abort",
          () => {
            sleepers.delete(sleeper);
            reject(signal.reason as Error);
          },
          { once: true },
        );
      });
    },
  });
}
