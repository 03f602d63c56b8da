/** Asks the handler about limits. The questions of one tick go together. */
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import type { RateLimitItem } from "../types.js";
import { HandlerError } from "./handler-answer.js";

/**
 * The most characters of the items in a URL. Some servers and proxies reject a URL beyond 2 KB. This many
 * characters hold 67 items at most, and the handler takes 100.
 */
const MAX_LENGTH = 1900;

interface Question {
  /** The item, as JSON. */
  text: string;
  resolve(snapshot: RateLimitSnapshot): void;
  reject(error: unknown): void;
}

/**
 * @param get resolves with the JSON that the handler has about these items, as JSON.
 * @returns a function that asks about one limit a microtask later, with all others of this tick.
 */
export function createStatusQuestions(get: (items: string) => Promise<unknown>) {
  let waiting: Question[] = [];

  function sendAll(): void {
    const questions = waiting;
    waiting = [];
    let group: Question[] = [];
    let length = 0;
    for (const question of questions) {
      // One character for the comma, which takes three in a URL.
      const added = encodeURIComponent(question.text).length + 3;
      if (group.length > 0 && length + added > MAX_LENGTH) {
        void send(group);
        group = [];
        length = 0;
      }
      group.push(question);
      length += added;
    }
    void send(group);
  }

  async function send(group: readonly Question[]): Promise<void> {
    try {
      const answers = await get(`[${group.map(({ text }) => text).join()}]`);
      for (const [i, { resolve, reject }] of group.entries()) {
        const answer = Object((answers as unknown[])?.[i]) as {
          snapshot?: RateLimitSnapshot;
          status?: number;
          error?: unknown;
        };
        // The observer checks the snapshot itself.
        if (answer.snapshot) resolve(answer.snapshot);
        else reject(new HandlerError(answer.status ?? 500, answer.error));
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  return ({ name, key }: RateLimitItem) =>
    new Promise<RateLimitSnapshot>((resolve, reject) => {
      if (waiting.length === 0) queueMicrotask(sendAll);
      waiting.push({ text: JSON.stringify({ name, key }), resolve, reject });
    });
}
