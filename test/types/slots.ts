/** Code of slots that must and must not compile. `tsc` checks it; it never runs. */
import { createRateLimiter, memoryStore, MINUTE, type RateLimiter } from "trpc-rate-limit/server";

const limiter = createRateLimiter({
  store: memoryStore(),
  limits: {
    generations: { kind: "concurrency", slots: 2, ttl: 5000 },
    tokens: { kind: "token bucket", rate: 1, period: MINUTE },
  },
});

export async function use(): Promise<number> {
  await using slot = await limiter.enter("generations", {
    key: "ada",
    maxWait: 1000,
    onPlace: (place: number) => void place,
    with: [{ name: "tokens", count: 2 }],
  });
  // @ts-expect-error A denied call has no signal.
  void slot.signal;
  if (slot.ok) return slot.signal.aborted ? 0 : slot.value;
  return slot.retryAfter;
}

export async function answer(body: ReadableStream): Promise<Response> {
  await using slot = await limiter.enter("generations");
  // @ts-expect-error A denied call has no slot for a response to hold.
  slot.during(new Response(body));
  if (!slot.ok) return new Response(null, { status: 429 });
  // @ts-expect-error A slot is held by a response, and not by its body.
  slot.during(body);
  return slot.during(new Response(body));
}

// @ts-expect-error Slots have no tokens: use enter().
void limiter.limit("generations", { key: "ada" });
// @ts-expect-error Slots have no tokens: use enter().
void limiter.charge("generations");
// @ts-expect-error Slots have no tokens: use enter().
void limiter.acquire("generations");
// @ts-expect-error Slots have no tokens: use enter().
void limiter.limitAll([{ name: "generations" }]);
// @ts-expect-error Tokens have no slots: use limit().
void limiter.enter("tokens");
// @ts-expect-error A slot is taken alone, or with tokens.
void limiter.enter("generations", { with: [{ name: "generations" }] });
void limiter.check("generations", { key: "ada" });
void limiter.getValue("generations");
void limiter.reset("generations");
void limiter.list("generations");

createRateLimiter({
  store: memoryStore(),
  // @ts-expect-error Slots have no rate.
  limits: { generations: { kind: "concurrency", slots: 2, rate: 5 } },
});
createRateLimiter({
  store: memoryStore(),
  // @ts-expect-error Slots are rows of their own already.
  limits: { generations: { kind: "concurrency", slots: 2, shards: 5 } },
});
createRateLimiter({
  store: memoryStore(),
  // @ts-expect-error Slots are taken one by one: say ttl.
  limits: { generations: { kind: "concurrency", slots: 2, lease: { ms: 5000 } } },
});
createRateLimiter({
  store: memoryStore(),
  // @ts-expect-error Only a limit of kind "concurrency" has slots.
  limits: { generations: { kind: "token bucket", rate: 1, period: MINUTE, slots: 5 } },
});
createRateLimiter({
  store: memoryStore(),
  // @ts-expect-error The number of slots is needed.
  limits: { generations: { kind: "concurrency" } },
});

/** Code for any limiter takes one with slots, too. */
export const anyLimiter: RateLimiter = limiter as unknown as RateLimiter;
