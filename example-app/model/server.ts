/**
 * A pretend language model, and the tokens that it costs. A prompt takes its estimate first. If the
 * tokens are not there yet, it reserves them and waits for its turn. It settles at its end.
 */
import type { LimitValue } from "trpc-rate-limit/server";
import { z } from "zod";
import type { App } from "../shared/server/trpc.js";
import { modelLimits, PAID } from "./limits.js";
import { generate } from "./pretend-model.js";
import { estimate, LENGTHS, MAX_PROMPT, wordsOf } from "./prompt.js";
import { gained, untilTurn } from "./queue.js";

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
    return (await configOf(visitor, "llmTokens")) ?? modelLimits.llmTokens;
  }

  async function tokensOf(visitor: string) {
    return limiter.getValue("llmTokens", { key: visitor, config: await tierOf(visitor) });
  }

  return t.router({
    /** Tokens a minute, by tier. */
    tiers: t.procedure.query(() => ({ free: modelLimits.llmTokens.rate, paid: PAID.rate })),

    tier: t.procedure
      .input(z.object({ tier: z.enum(["free", "paid"]) }))
      .mutation(async ({ ctx: { visitor: id }, input }) => {
        await prisma.visitor.upsert({ where: { id }, create: { id, ...input }, update: input });
      }),

    ask: t.procedure
      .input(promptInput)
      // Limit: takes the estimate, and reserves what is not there yet.
      .use(rl.rateLimited("llmTokens", { count: ({ input }) => estimate(input), reserve: true }))
      .mutation(async function* ({
        ctx: { visitor, rateLimit },
        input,
        signal,
      }): AsyncGenerator<ModelEvent, void> {
        const turn = {
          reservation: rateLimit,
          config: () => tierOf(visitor),
          clock: limiter.clock,
        };
        let used = 0;
        let before: LimitValue;
        try {
          for await (const wait of untilTurn({ ...turn, signal })) yield { kind: "queued", wait };
          yield { kind: "running" };
          used = wordsOf(input.text).length;
          for await (const word of generate(input, signal)) {
            used++;
            yield { kind: "word", word };
          }
          before = await tokensOf(visitor);
        } finally {
          // Limit: gives back what was not used, also to a client that has gone away.
          await rateLimit.settle(used);
        }
        const estimated = estimate(input);
        const unused = estimated - used;
        const returned = Math.min(unused, gained(before, await tokensOf(visitor)));
        yield { kind: "bill", estimated, used, returned };
      }),
  });
}
