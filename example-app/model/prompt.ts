/**
 * The cost of a prompt, and the size of a purchase of credits. The page shows the cost before the server
 * charges it, so both import this file.
 */

/** The most words that the visitor lets the model write. */
export const LENGTHS = [100, 1_000, 10_000] as const;
/** The longest prompt, in characters. */
export const MAX_PROMPT = 400;
/** The credits of one purchase. One credit is one token. */
export const CREDITS_SOLD = 2_000;

export interface Prompt {
  text: string;
  length: (typeof LENGTHS)[number];
}

/** Each word is one token. A real model has a tokenizer, and its provider reports the usage. */
export function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

/** The most tokens that a prompt can use: its own words, and all that the model may write. */
export function estimate({ text, length }: Prompt): number {
  return wordsOf(text).length + length;
}
