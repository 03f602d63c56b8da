/** The pretend model: it writes the words of the prompt, forwards and backwards. */
import { setTimeout } from "node:timers/promises";
import { type Prompt, wordsOf } from "./prompt.js";

/** ms between two words of an answer. */
const PACE = 50;
/** How often the model writes the prompt: five times forwards, and five times backwards. */
const TURNS = 10;

/** Yields the words of the answer. */
export async function* generate({ text, length }: Prompt, signal: AbortSignal | undefined) {
  const words = wordsOf(text);
  const bothWays = [...words, ...words.toReversed()];
  const written = Math.min(length, words.length * TURNS);
  for (let i = 0; i < written; i++) {
    await setTimeout(PACE, undefined, { signal });
    yield bothWays[i % bothWays.length]!;
  }
}
