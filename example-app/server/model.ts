/**
 * A pretend language model, and the tokens that it costs. A prompt takes its estimate first. If the
 * tokens are not there yet, it reserves them and waits for its turn. It settles at its end.
 */
import { setTimeout } from "node:timers/promises";
import { calculateRateLimit, SECOND } from "trpc-rate-limit";
import type { LimitValue } from "trpc-rate-limit/server";
import { z } from "zod";
import { estimate, LENGTHS, MAX_PROMPT, type Prompt, wordsOf } from "../shared/prompt.js";
import { LIMITS, PAID } from "./limits.js";
import type { App } from "./trpc.js";

/** ms between two words of an answer. */
const PACE = 50;
/** How often the model writes the prompt: five times forwards, and five times backwards. */
const TURNS = 10;

/** The news of one prompt, in the order in which they come. */
export type ModelEvent =
  /** It runs in `wait` ms. Sent again when that has changed. */
  | { kind: "queued"; wait: number }
  | { kind: "running" }
  | { kind: "word"; word: string }
  /** `returned`: how many of the tokens that were not used the bucket has taken back. */
  | { kind: "bill"; estimated: number; used: number; returned: number };

export function modelRouter({ t, rl, prisma, limiter, configOf }: App) {
  const promptInput = z.object({
    text: z.string().trim().min(1).max(MAX_PROMPT),
    length: z.literal(LENGTHS),
  });

  async function tierOf(visitor: string) {
    return (await configOf(visitor, "llmTokens")) ?? LIMITS.llmTokens;
  }

  async function tokensOf(visitor: string) {
    return limiter.getValue("llmTokens", { key: visitor, config: await tierOf(visitor) });
  }

  return t.router({
    /** Tokens a minute, by tier. */
    tiers: t.procedure.query(() => ({ free: LIMITS.llmTokens.rate, paid: PAID.rate })),

    tier: t.procedure
      .input(z.object({ tier: z.enum(["free", "paid"]) }))
      .mutation(async ({ ctx: { visitor: id }, input }) => {
        await prisma.visitor.upsert({ where: { id }, create: { id, ...input }, update: input });
      }),

    ask: t.procedure
      .input(promptInput)
      .use(rl.rateLimited("llmTokens", { count: ({ input }) => estimate(input), reserve: true }))
      .mutation(async function* ({
        ctx: { visitor, rateLimit },
        input,
        signal,
      }): AsyncGenerator<ModelEvent, void> {
        let used = 0;
        let before: LimitValue;
        try {
          for await (const wait of waits()) yield { kind: "queued", wait };
          yield { kind: "running" };
          used = wordsOf(input.text).length;
          for await (const word of generate(input, signal)) {
            used++;
            yield { kind: "word", word };
          }
          before = await tokensOf(visitor);
        } finally {
          // At the end of the answer, and when the client goes away.
          await rateLimit.settle(used);
        }
        const estimated = estimate(input);
        const unused = estimated - used;
        const returned = Math.min(unused, gained(before, await tokensOf(visitor)));
        yield { kind: "bill", estimated, used, returned };

        /** Yields the ms until the prompt's turn, at first and whenever they change. */
        async function* waits(): AsyncGenerator<number, void> {
          const promised = limiter.clock() + (rateLimit.retryAfter ?? 0);
          let known = Infinity;
          for (;;) {
            const now = limiter.clock();
            // A better tier repays the reservation sooner. A worse one does not break the promise.
            const { retryAfter = 0 } = calculateRateLimit(rateLimit, await tierOf(visitor), now);
            const startAt = Math.min(promised, now + retryAfter);
            if (startAt <= now) return;
            if (known - startAt > SECOND / 10) yield (known = startAt) - now;
            await setTimeout(Math.min(startAt - now, SECOND), undefined, { signal });
          }
        }
      }),
  });
}

/** Whole tokens that a bucket has got between two instants, beyond what was refilled. */
function gained(before: LimitValue, after: LimitValue): number {
  const { value } = calculateRateLimit(before, after.config, after.ts);
  return Math.max(0, Math.round(after.value - value));
}

async function* generate({ text, length }: Prompt, signal: AbortSignal | undefined) {
  const words = wordsOf(text);
  const bothWays = [...words, ...words.toReversed()];
  const written = Math.min(length, words.length * TURNS);
  for (let i = 0; i < written; i++) {
    await setTimeout(PACE, undefined, { signal });
    yield bothWays[i % bothWays.length]!;
  }
}
