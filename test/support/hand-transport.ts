/** A transport that the test controls. The test sends each answer and each stream event. */
import { expect, onTestFinished, vi } from "vitest";
import {
  createRateLimitObserver,
  type RateLimitItem,
  type RateLimitObserver,
  type RateLimitObserverOptions,
  type RateLimitSnapshot,
  type WatchHandlers,
} from "../../client/index.js";

export const CONFIG = { kind: "token bucket", rate: 3, period: 1e9 } as const;

/** A snapshot of a limit with `value` tokens, read at the current time by default. */
export function snapshotOf(
  name: string,
  value: number,
  more: Partial<RateLimitSnapshot> = {},
): RateLimitSnapshot {
  const now = more.now ?? Date.now();
  return { name, value, ts: now, config: CONFIG, now, ...more };
}

interface StatusRequest {
  name: string;
  answer(value: number, more?: Partial<RateLimitSnapshot>): void;
  /** Answers with anything at all. */
  answerWith(snapshot: RateLimitSnapshot): void;
  fail(error?: unknown): void;
}

interface Stream extends WatchHandlers {
  names: string[];
  isClosed: boolean;
}

/** @param isStreamless whether every stream ends immediately. */
export function createHandTransport(isStreamless: boolean = false) {
  const requests: StatusRequest[] = [];
  const streams: Stream[] = [];
  return {
    /** The status requests without an answer, in order. */
    requests,
    /** All streams so far, in order. */
    streams,
    observers: new Set<RateLimitObserver>(),
    status({ name, key }: RateLimitItem) {
      return new Promise<RateLimitSnapshot>((resolve, reject) => {
        const remove = (request: StatusRequest) => {
          const index = requests.indexOf(request);
          if (index >= 0) requests.splice(index, 1);
        };
        const request = {
          name,
          answerWith(snapshot: RateLimitSnapshot) {
            remove(request);
            resolve(snapshot);
          },
          answer(value: number, more?: Partial<RateLimitSnapshot>) {
            request.answerWith(
              snapshotOf(name, value, { ...(key !== undefined && { key }), ...more }),
            );
          },
          fail(error: unknown = new Error("the status request failed")) {
            remove(request);
            reject(error);
          },
        };
        requests.push(request);
      });
    },
    watch(items: readonly RateLimitItem[], handlers: WatchHandlers) {
      const stream = { ...handlers, names: items.map(({ name }) => name), isClosed: false };
      streams.push(stream);
      if (isStreamless) handlers.onEnded();
      return () => {
        stream.isClosed = true;
        // tRPC's client does the same.
        stream.onEnded();
      };
    },
  };
}

/** Advances the fake timers, and runs the timers and promises that are due. */
export const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

export interface StartOptions extends Omit<RateLimitObserverOptions, "transport"> {
  /** Whether every stream ends immediately. */
  isStreamless?: boolean;
}

/** An observer on a manual transport, closed with its test. Works only with fake timers. */
export function startByHand({ isStreamless = false, ...options }: StartOptions = {}) {
  const transport = createHandTransport(isStreamless);
  const observer = createRateLimitObserver({
    transport,
    pollInterval: 60_000,
    clock: () => Date.now(),
    ...options,
  });
  onTestFinished(() => observer.close());
  return { ...transport, observer };
}

/** An observer that has just asked for the limit `a`. */
export async function startAsking(options: StartOptions = {}) {
  const started = startByHand(options);
  started.observer.observe({ name: "a" }, 1, () => {});
  await pass(1);
  return started;
}

/** An observer of the limit `a` with `value` tokens and an open stream. */
export async function startLive(value: number, options: StartOptions = {}) {
  const started = await startAsking(options);
  started.requests[0]!.answer(value);
  started.streams[0]!.onSnapshot(snapshotOf("a", value));
  await pass(1);
  expect(started.observer.connection).toBe("live");
  return started;
}
