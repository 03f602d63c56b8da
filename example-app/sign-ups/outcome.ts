/** The sign-ups that a press asks for, and their outcome, as numbers and in words. */
import { isRateLimitError } from "trpc-rate-limit/react";
import { timeOf } from "../shared/page/pieces.js";

interface Outcome {
  made: string[];
  denied: number;
  /** When denied calls pass: epoch ms on this machine's clock. */
  retryAt: number;
  failed: number;
}

/** @param offset the server's time minus this machine's, ms. */
export function outcomeOf(
  answers: readonly PromiseSettledResult<{ name: string }>[],
  offset: number,
): Outcome {
  const made = answers.flatMap((answer) =>
    answer.status === "fulfilled" ? answer.value.name : [],
  );
  const errors: unknown[] = answers.flatMap((answer) =>
    answer.status === "rejected" ? [answer.reason] : [],
  );
  const denials = errors.filter((error) => isRateLimitError(error));
  return {
    made,
    denied: denials.length,
    retryAt: Math.max(
      0,
      ...denials.map(({ data: { rateLimit } }) => rateLimit.now + rateLimit.retryAfter - offset),
    ),
    failed: errors.length - denials.length,
  };
}

export function describe({ made, denied, retryAt, failed }: Outcome): string {
  const texts: string[] = [];
  if (made.length === 1) texts.push(`“${made[0]}” is signed up.`);
  if (made.length > 1) texts.push(`${made.length} accounts are signed up.`);
  if (denied > 0) {
    texts.push(`${deniedOnes(made.length, denied)} denied until ${timeOf(retryAt)}.`);
  }
  if (failed > 0) texts.push(`${failed} failed: the server did not answer, or could not save it.`);
  return texts.join(" ");
}

function deniedOnes(made: number, denied: number): string {
  if (made === 0) return denied === 1 ? "The sign-up was" : `All ${denied} sign-ups were`;
  return denied === 1 ? "One more was" : `${denied} more were`;
}

/** The longest label of the button that asks for one account too many. */
export const WIDEST = "All 100 left, and one more";

/** @param left how many accounts the window has left. */
export function oneTooMany(left: number | undefined): string {
  if (left === undefined) return WIDEST;
  if (left === 0) return "Try one more";
  return left === 1 ? "The last one, and one more" : `All ${left} left, and one more`;
}
