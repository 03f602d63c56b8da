/** Estimates the tokens of a call before the call, and counts them after it. */
import type { ModelCallParams, ModelUsage } from "./model-types.js";

/**
 * English has some 4 bytes to a token, and most other languages fewer. 3 bytes make the estimate high.
 */
const BYTES_PER_TOKEN = 3;
/** About what a page or a picture costs. */
const TOKENS_PER_FILE = 1000;
/** The tokens of an answer where a call sets no `maxOutputTokens`. */
const OUTPUT_TOKENS = 4000;

/**
 * The default of `estimate`: a token for 3 bytes (UTF-8) of the texts in the prompt and the tools, 1,000
 * for each file, and `maxOutputTokens`, or 4,000 where the call sets none.
 */
export function estimateTokens({ prompt, tools = [], maxOutputTokens }: ModelCallParams): number {
  const found = { bytes: 0, files: 0 };
  addTexts([prompt, tools], found);
  const input = Math.ceil(found.bytes / BYTES_PER_TOKEN) + found.files * TOKENS_PER_FILE;
  return input + (maxOutputTokens ?? OUTPUT_TOKENS);
}

const encoder = new TextEncoder();

function addTexts(value: unknown, found: { bytes: number; files: number }): void {
  if (typeof value === "string") {
    found.bytes += encoder.encode(value).length;
  } else if (Array.isArray(value)) {
    for (const each of value) addTexts(each, found);
  } else if (typeof value === "object" && value !== null) {
    // An object with a `mediaType` is a file, in messages and in results of tools.
    if ("mediaType" in value) found.files++;
    else
      for (const [name, each] of Object.entries(value)) if (name !== "type") addTexts(each, found);
  }
}

/**
 * The default of `tokens`: the provider's total, or input and output together. `NaN` where the total is
 * missing, and the input or the output, too.
 */
export function usedTokens(usage: ModelUsage): number {
  const { inputTokens, outputTokens, totalTokens } = usage;
  const total = figureOf(totalTokens);
  return Number.isNaN(total)
    ? figureOf(totalOf(inputTokens)) + figureOf(totalOf(outputTokens))
    : total;
}

function totalOf(tokens: ModelUsage["inputTokens"]): unknown {
  return typeof tokens === "object" ? (tokens as { total?: unknown } | null)?.total : tokens;
}

/** `NaN` for what is no number of tokens: at runtime, a provider can send anything. */
export function figureOf(value: unknown): number {
  return typeof value === "number" && value >= 0 && value < Infinity ? value : NaN;
}
