/** A server that the test controls: each answer, message and end of a stream comes from the test. */
import { expect, vi } from "vitest";
import {
  createRateLimitObserver,
  type RateLimitItem,
  type RateLimitObserver,
  type RateLimitObserverOptions,
  type RateLimitSnapshot,
  type WatchHandlers,
} from "../../client/index.js";

export const CONFIG = { kind: "token bucket", rate: 3, period: 1e9 } as const;

/** A snapshot of a limit that held so many tokens; read now by default. */
export function saying(
  name: string,
  value: number,
  more: Partial<RateLimitSnapshot> = {},
): RateLimitSnapshot {
  const now = more.now ?? Date.now();
  return { name, value, ts: now, config: CONFIG, now, ...more };
}

interface Question {
  name: string;
  answer(value: number, more?: Partial<RateLimitSnapshot>): void;
  fail(): void;
}

interface Stream extends WatchHandlers {
  names: string[];
  isClosed: boolean;
}

/** @param isStreamless whether every stream ends at once. */
export function createHandTransport(isStreamless: boolean = false) {
  const questions: Question[] = [];
  const streams: Stream[] = [];
  return {
    /** The requests without an answer, in order. */
    questions,
    /** All streams so far, in order. */
    streams,
    observers: new Set<RateLimitObserver>(),
    status({ name, key }: RateLimitItem) {
      return new Promise<RateLimitSnapshot>((resolve, reject) => {
        const done = (question: Question) => {
          const index = questions.indexOf(question);
          if (index >= 0) questions.splice(index, 1);
        };
        const question = {
          name,
          answer(value: number, more?: Partial<RateLimitSnapshot>) {
            done(question);
            resolve(saying(name, value, { ...(key !== undefined && { key }), ...more }));
          },
          fail() {
            done(question);
            reject(new Error("no answer"));
          },
        };
        questions.push(question);
      });
    },
    watch(items: readonly RateLimitItem[], handlers: WatchHandlers) {
      const stream = { ...handlers, names: items.map(({ name }) => name), isClosed: false };
      streams.push(stream);
      if (isStreamless) handlers.onEnded();
      return () => void (stream.isClosed = true);
    },
  };
}

/** Lets fake time pass, with all timers and promises in it. */
export const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

export interface StartOptions extends Omit<RateLimitObserverOptions, "transport"> {
  /** Whether every stream ends at once. */
  isStreamless?: boolean;
}

/** An observer of such a server. Only on fake timers. */
export function startByHand({ isStreamless = false, ...options }: StartOptions = {}) {
  const transport = createHandTransport(isStreamless);
  const observer = createRateLimitObserver({
    transport,
    pollInterval: 60_000,
    clock: () => Date.now(),
    ...options,
  });
  return { ...transport, observer };
}

/** A live observer of the limit `a`, with so many tokens. */
export async function startLive(value: number, options: StartOptions = {}) {
  const started = startByHand(options);
  started.observer.observe({ name: "a" }, 1, () => {});
  await pass(1);
  started.questions[0]!.answer(value);
  started.streams[0]!.onSnapshot(saying("a", value));
  await pass(1);
  expect(started.observer.connection).toBe("live");
  return started;
}
