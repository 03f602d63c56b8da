/** A server in the test's own hands: it answers, streams and hangs up only where the test says so. */
import { vi } from "vitest";
import type {
  RateLimitItem,
  RateLimitObserver,
  RateLimitSnapshot,
  WatchHandlers,
} from "../../client/index.js";

export const CONFIG = { kind: "token bucket", rate: 3, period: 1e9 } as const;

/** What the server says of a limit that held so many tokens; read now, unless said otherwise. */
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
    /** Those that nobody has answered yet, in order. */
    questions,
    /** All there ever were, in order. */
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

/** Lets fake time pass, and everything that is due then happen. */
export const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
