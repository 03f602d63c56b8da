/** The prompts of this page, and what the server has said of each. */
import { useRef, useState } from "react";
import { isRateLimitError } from "trpc-rate-limit/react";
import { useTRPCClient } from "../shared/page/trpc.js";
import type { ModelEvent } from "./answer-prompt.js";
import type { Prompt } from "./prompt.js";

/**
 * Each open prompt is an HTTP request. With HTTP/1.1, a browser has six connections for one server,
 * and the page needs one for the stream of its limits, and one for other calls.
 */
export const MAX_OPEN = 4;
/** How many prompts that are over stay on the page. */
const KEPT = 2;

export type PromptState =
  | { kind: "sent" }
  /** `since` and `until` are epoch ms on this machine's clock. */
  | { kind: "queued"; since: number; until: number }
  /** The prompt's turn has come, and both slots are held. */
  | { kind: "waiting" }
  | { kind: "running" }
  | Extract<ModelEvent, { kind: "bill" }>
  | { kind: "stopped" }
  | { kind: "denied" }
  | { kind: "impossible" }
  | { kind: "lost" };

export interface AskedPrompt {
  id: number;
  prompt: Prompt;
  state: PromptState;
  words: readonly string[];
}

export function isOpen({ state: { kind } }: AskedPrompt): boolean {
  return kind === "sent" || kind === "queued" || kind === "waiting" || kind === "running";
}

export type Prompts = ReturnType<typeof usePrompts>;

/** `news` is what has happened last to any of the prompts. */
export function usePrompts() {
  const client = useTRPCClient();
  const [prompts, setPrompts] = useState<readonly AskedPrompt[]>([]);
  const [news, setNews] = useState<PromptState["kind"]>();
  const streams = useRef(new Map<number, AbortController>());
  const lastId = useRef(0);

  /**
   * A prompt that the credits pay for runs at once. If another tab has spent them first, the prompt
   * queues.
   */
  async function send(prompt: Prompt, isForCredits: boolean, signal: AbortSignal) {
    if (isForCredits) {
      try {
        return await client.model.askNow.mutate(prompt, { signal });
      } catch (error) {
        if (!isRateLimitError(error)) throw error;
      }
    }
    return client.model.ask.mutate(prompt, { signal });
  }

  /** @param replaced the id of a denied prompt, which is asked again. */
  async function ask(prompt: Prompt, isForCredits: boolean, replaced?: number) {
    if (streams.current.size >= MAX_OPEN) return;
    const id = ++lastId.current;
    const stream = new AbortController();
    streams.current.set(id, stream);
    setPrompts((all) => [
      ...latest(all.filter((asked) => asked.id !== replaced)),
      { id, prompt, state: { kind: "sent" }, words: [] },
    ]);
    // Reset the news, so that a second denial is said, too.
    setNews("sent");

    function change(next: (asked: AskedPrompt) => Partial<AskedPrompt>) {
      setPrompts((all) =>
        all.map((asked) => (asked.id === id ? { ...asked, ...next(asked) } : asked)),
      );
    }
    function end(state: PromptState) {
      change(() => ({ state }));
      setNews(state.kind);
    }

    try {
      const events = await send(prompt, isForCredits, stream.signal);
      for await (const event of events) {
        change((asked) => after(event, asked));
        if (event.kind !== "word") setNews(event.kind);
        if (event.kind === "bill") return;
      }
      // A stream that ends without its bill was cut off.
      end({ kind: "lost" });
    } catch (error) {
      end(stream.signal.aborted ? { kind: "stopped" } : failureOf(error));
    } finally {
      streams.current.delete(id);
    }
  }

  /** The server sees the connection end, and gives back what was not used. */
  function stop(id: number) {
    streams.current.get(id)?.abort();
  }

  return { prompts, news, ask, stop };
}

function latest(prompts: readonly AskedPrompt[]): readonly AskedPrompt[] {
  const over = new Set(prompts.filter((asked) => !isOpen(asked)).slice(-KEPT));
  return prompts.filter((asked) => isOpen(asked) || over.has(asked));
}

function after(event: ModelEvent, { state, words }: AskedPrompt): Partial<AskedPrompt> {
  if (event.kind === "word") return { words: [...words, event.word] };
  if (event.kind !== "queued") return { state: event };
  const now = Date.now();
  const since = state.kind === "queued" ? state.since : now;
  return { state: { kind: "queued", since, until: now + event.wait } };
}

function failureOf(error: unknown): PromptState {
  // Limit: a denial that passes later. A count that can never be granted has a code of its own.
  if (isRateLimitError(error)) return { kind: "denied" };
  const { data } = error as { data?: { code?: string } };
  return { kind: data?.code === "PAYLOAD_TOO_LARGE" ? "impossible" : "lost" };
}
