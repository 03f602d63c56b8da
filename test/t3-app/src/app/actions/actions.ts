"use server";

import { headers } from "next/headers";
import { isRateLimitError } from "trpc-rate-limit";

import { createCaller } from "~/server/api/root";
import { createTRPCContext } from "~/server/api/trpc";
import { limiter } from "~/server/limiter";
import { userOf } from "~/server/session";

/** A server action that calls a limited procedure. */
export async function createPost(_previous: string, form: FormData): Promise<string> {
  const caller = createCaller(async () => createTRPCContext({ headers: await headers() }));
  try {
    await caller.post.create({ name: form.get("name") as string });
    return "Posted";
  } catch (error) {
    if (!isRateLimitError(error)) throw error;
    const { name, retryAfter } = error.data.rateLimit;
    return `Denied by ${name}: try again in ${Math.ceil(retryAfter / 1000)} s`;
  }
}

/** A limited server action without tRPC. */
export async function sendFeedback(_previous: string, _form: FormData): Promise<string> {
  const userId = userOf(await headers());
  if (userId === null) return "Log in first";
  const { ok, retryAfter } = await limiter.limit("feedback", { key: userId });
  if (!ok) return `Try again in ${Math.ceil(retryAfter / 60_000)} minutes`;
  return "Thank you";
}
