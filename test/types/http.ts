/** Code without tRPC that must and must not compile. `tsc` checks it; it never runs. */
import {
  createRateLimiter,
  ipKey,
  memoryStore,
  MINUTE,
  type RateLimitError,
  type RateLimiter,
  rateLimitHeaders,
  rateLimitResponse,
  resetAt,
  SECOND,
} from "trpc-rate-limit/server";

const limiter = createRateLimiter({
  store: memoryStore(),
  limits: { sendMessage: { kind: "token bucket", rate: 10, period: MINUTE } },
});
const inline = { kind: "fixed window", rate: 1, period: SECOND } as const;

export async function responses(thrown: unknown, error: RateLimitError, anyLimiter: RateLimiter) {
  rateLimitResponse(thrown);
  rateLimitResponse(error, { headers: { vary: "Origin" } });
  rateLimitHeaders(error);
  const result = await limiter.limit("sendMessage");
  rateLimitResponse(result, { limiter, name: "sendMessage", key: "ada", headers: new Headers() });
  rateLimitHeaders(result, { limiter, name: "sendMessage", config: inline });
  rateLimitHeaders(result, { limiter, name: "oneOff", config: inline });
  rateLimitHeaders(result, { limiter: anyLimiter, name: "sendMessage" });
  await limiter.transaction(async ({ limit }) => {
    rateLimitHeaders(await limit("sendMessage"), { limiter, name: "sendMessage" });
  });
  // @ts-expect-error a result does not say what it is about
  rateLimitResponse(result);
  // @ts-expect-error a result does not say what it is about
  rateLimitResponse(result, { headers: {} });
  // @ts-expect-error a result does not say what it is about
  rateLimitHeaders(result);
  // @ts-expect-error a misspelt name
  rateLimitHeaders(result, { limiter, name: "sendMesage" });
  // @ts-expect-error a misspelt name
  rateLimitResponse(result, { limiter, name: "sendMesage" });
  // @ts-expect-error several limits at once
  rateLimitResponse(await limiter.limitAll([{ name: "sendMessage" }]));
  // @ts-expect-error not every error is a denial
  rateLimitHeaders(new Error("a bug"));
}

export async function fields(error: RateLimitError) {
  const result = await limiter.limit("sendMessage");
  const about = { limiter, name: "sendMessage" } as const;
  rateLimitHeaders(result, { ...about, xRateLimit: "seconds" });
  rateLimitHeaders(error, { xRateLimit: "epoch" });
  rateLimitResponse(error, { xRateLimit: "epoch" });
  rateLimitResponse(result, { ...about, xRateLimit: "epoch" });
  // @ts-expect-error no such form
  rateLimitHeaders(error, { xRateLimit: "ms" });
}

export async function resets(error: RateLimitError) {
  const config = limiter.configOf("sendMessage");
  const [snapshot] = await limiter.snapshots([{ name: "sendMessage" }]);
  const states = [snapshot!, error.data.rateLimit, await limiter.getValue("sendMessage")];
  for (const state of states) resetAt(state);
  const result = await limiter.limit("sendMessage");
  if (result.ok) resetAt({ ...result, config });
  resetAt({ ...result, config, now: limiter.clock() });
  // @ts-expect-error a denial does not say when it was
  if (!result.ok) resetAt({ ...result, config });
  // @ts-expect-error a result does not say its config
  resetAt({ ...result, now: limiter.clock() });
}

export function keys(header: string | null, address: string | undefined, many: string[]) {
  ipKey(header);
  ipKey(address, { ipv6Prefix: 56 });
  // @ts-expect-error a header that came several times
  ipKey(many);
  // @ts-expect-error a misspelt option
  ipKey(header, { ipv6prefix: 56 });
}
