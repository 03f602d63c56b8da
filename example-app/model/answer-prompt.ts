/**
 * Answers a prompt whose estimate is paid. If its tokens are reserved, it waits for its turn. Then it
 * enters one of the visitor's slots, and holds it while it is answered. It settles at its end.
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
  /** It runs in `wait` ms. Sent again when that has changed. */
  | { kind: "queued"; wait: number }
  /** Its turn has come, and it waits for a slot. */
  | { kind: "waiting" }
  | { kind: "running" }
  | { kind: "word"; word: string }
  /** `returned`: how many of the tokens that were not used `paid` has taken back. */
  | { kind: "bill"; estimated: number; used: number; returned: number; paid: Payer };

interface PaidPrompt {
  visitor: string;
  input: Prompt;
  signal: AbortSignal | undefined;
  paid: Payer;
  /** Corrects what was paid to the tokens that were used. */
  settle(used: number): Promise<unknown>;
  /** Of a prompt whose tokens may be still to come. */
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
    // Ends with the request, and with the slot, should that be lost.
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
