/**
 * Answers a prompt whose estimate is paid. A prompt with reserved tokens waits for its turn. The prompt
 * then enters one of the visitor's slots, and holds the slot while the model answers. At its end, the
 * prompt is settled.
 */
import type { EnterGranted, LimitValue } from "trpc-rate-limit/server";
import type { App } from "../shared/server/trpc.js";
import { generate } from "./pretend-model.js";
import { estimate, type Prompt, wordsOf } from "./prompt.js";
import { gained, type Reservation, untilTurn } from "./queue.js";

/** The limit that has paid for a prompt. */
export type Payer = "llmTokens" | "credits";

/** The news of one prompt, in the order in which they come. */
export type ModelEvent =
  /** The prompt runs in `wait` ms. Sent again when the wait has changed. */
  | { kind: "queued"; wait: number }
  /** The prompt's turn has come, and it waits for a slot. */
  | { kind: "waiting" }
  | { kind: "running" }
  | { kind: "word"; word: string }
  /** `returned`: how many of the unused tokens the limit `paid` has taken back. */
  | { kind: "bill"; estimated: number; used: number; returned: number; paid: Payer };

interface PaidPrompt {
  visitor: string;
  input: Prompt;
  signal: AbortSignal | undefined;
  paid: Payer;
  /** Corrects what was paid to the tokens that were used. */
  settle(used: number): Promise<unknown>;
  /** For a prompt whose tokens may not be there yet. */
  reservation?: Reservation;
}

export async function* answerPrompt(
  { limiter }: App,
  { visitor, input, signal, paid, settle, reservation }: PaidPrompt,
): AsyncGenerator<ModelEvent, void> {
  const held = (): Promise<LimitValue> => limiter.getValue(paid, { key: visitor });

  const { clock } = limiter;
  let used = 0;
  let before: LimitValue;
  try {
    if (reservation) {
      const waits = untilTurn({
        reservation,
        config: async () => (await limiter.getValue("llmTokens", { key: visitor })).config,
        clock,
        signal,
      });
      for await (const wait of waits) yield { kind: "queued", wait };
    }
    // Limit: a slot, held to the end of this block. A prompt in the queue needs none yet.
    let entered = await limiter.enter("generations", { key: visitor });
    if (!entered.ok) {
      yield { kind: "waiting" };
      const inLine = { maxWait: Infinity, signal, throws: true };
      entered = await limiter.enter("generations", { key: visitor, ...inLine });
    }
    await using slot = entered as EnterGranted;
    yield { kind: "running" };
    used = wordsOf(input.text).length;
    // Stop with the request, or when the slot is lost.
    const stop = AbortSignal.any(signal ? [signal, slot.signal] : [slot.signal]);
    for await (const word of generate(input, stop)) {
      used++;
      yield { kind: "word", word };
    }
    before = await held();
  } finally {
    // Limit: gives back what was not used, also to a client that has gone away.
    await settle(used);
  }
  const estimated = estimate(input);
  const returned = Math.min(estimated - used, gained(before, await held()));
  yield { kind: "bill", estimated, used, returned, paid };
}
