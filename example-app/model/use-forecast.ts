/** Says before the press what a prompt would get: an answer, a place in the queue, or a denial. */
import { calculateRateLimit } from "trpc-rate-limit";
import { predictFirst } from "trpc-rate-limit/client";
import { type UseRateLimitResult, useCountdown } from "trpc-rate-limit/react";
import { useRateLimit } from "../shared/page/trpc.js";
import type { Payer } from "./answer-prompt.js";

export type Forecast =
  | { kind: "unknown" }
  | { kind: "runs" }
  /** The prompt runs, and the credits pay. */
  | { kind: "credits" }
  /** `at` is when the prompt would run; epoch ms on this machine's clock. */
  | { kind: "queues"; at: number }
  /** `at` is when the queue would have room for the prompt. */
  | { kind: "denied"; at: number }
  /** `most` is what this plan grants to one prompt, however long the prompt waits. */
  | { kind: "impossible"; most: number };

/** @returns also the seconds until `at`, or 0 for a forecast without `at`. */
export function useForecast(tokens: number): Forecast & { seconds: number } {
  // Limit: predicts a call for as many tokens as the prompt wants.
  const llmTokens = useRateLimit("llmTokens", { count: tokens });
  const credits = useRateLimit("credits", { count: tokens });
  // Renders when the debt changes. `llmTokens` does not render then, if its count is more than a bucket
  // ever holds.
  useRateLimit("llmTokens", { count: 0 });
  const next: Forecast = isForCredits({ llmTokens, credits }, tokens)
    ? { kind: "credits" }
    : forecast(llmTokens, tokens);
  // Renders also at the end of the wait, when another forecast is true.
  const seconds = useCountdown("at" in next ? next.at : undefined);
  return { ...next, seconds };
}

/** Whether the plan has no tokens for a prompt now, and the credits can pay for it. */
export function isForCredits(limits: Record<Payer, UseRateLimitResult>, tokens: number): boolean {
  // Limit: the answer to `askNow`, whose limits are in this order.
  const { llmTokens, credits } = limits;
  const first = predictFirst({ llmTokens, credits }, { count: tokens });
  return first?.status.ok === true && first.paid[0]?.name === "credits";
}

/**
 * The package predicts calls that do not reserve. A reservation runs at the instant at which such a call
 * would pass. A reservation is denied while more than `maxReserved` tokens would be owed.
 */
function forecast({ check }: UseRateLimitResult, tokens: number): Forecast {
  const now = Date.now();
  const held = check(now, 0);
  if (held?.config.kind !== "token bucket") return { kind: "unknown" };
  const { value, config } = held;
  const { rate, capacity = rate, maxReserved = 0 } = config;
  if (tokens > capacity + maxReserved) return { kind: "impossible", most: capacity + maxReserved };
  const after = calculateRateLimit({ value, ts: now }, config, now, tokens);
  if (after.retryAfter === undefined) return { kind: "runs" };
  // The part of the debt beyond `maxReserved`, as if it were the whole debt.
  const tooMuch = { value: after.value + maxReserved, ts: now };
  const { retryAfter } = calculateRateLimit(tooMuch, config, now);
  return retryAfter === undefined
    ? { kind: "queues", at: now + after.retryAfter }
    : { kind: "denied", at: now + retryAfter };
}
