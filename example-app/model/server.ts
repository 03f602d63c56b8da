/**
 * The procedures of a pretend language model, and the tokens that it costs. A prompt takes its estimate
 * first. `ask` takes the estimate from the plan, and reserves what is not there yet. `askNow` takes the
 * estimate from the plan or else from the credits, and never queues.
 */
import { z } from "zod";
import type { App } from "../shared/server/trpc.js";
import { whenFree } from "../shared/server/when-free.js";
import { answerPrompt } from "./answer-prompt.js";
import { PLANS } from "./limits.js";
import { CREDITS_SOLD, estimate, LENGTHS, MAX_PROMPT } from "./prompt.js";

export function modelRouter(app: App) {
  const { t, rl, prisma, limiter } = app;
  const promptInput = z.object({
    text: z.string().trim().min(1).max(MAX_PROMPT),
    length: z.literal(LENGTHS),
  });

  return t.router({
    /** Limit: what each plan has, for the prices. */
    prices: t.procedure.query(() => limiter.plans),

    changePlan: t.procedure
      .input(z.object({ plan: z.enum(PLANS) }))
      .mutation(async ({ ctx: { visitor: id }, input }) => {
        await whenFree(prisma, () =>
          prisma.visitor.upsert({ where: { id }, create: { id, ...input }, update: input }),
        );
        // Limit: open pages follow the new plan at once.
        limiter.planChanged(id);
      }),

    ask: t.procedure
      .input(promptInput)
      // Limit: takes the estimate, and reserves what is not there yet.
      .use(rl.rateLimited("llmTokens", { count: ({ input }) => estimate(input), reserve: true }))
      .mutation(({ ctx: { visitor, rateLimit }, input, signal }) => {
        const { settle } = rateLimit;
        const reservation = rateLimit;
        return answerPrompt(app, {
          visitor,
          input,
          signal,
          settle,
          reservation,
          paid: "llmTokens",
        });
      }),

    askNow: t.procedure
      .input(promptInput)
      // Limit: the plan pays for the whole prompt, or else the credits do.
      .use(
        rl.rateLimited.first(["llmTokens", "credits"], { count: ({ input }) => estimate(input) }),
      )
      .mutation(({ ctx: { visitor, rateLimit }, input, signal }) => {
        const { settle, paid } = rateLimit;
        return answerPrompt(app, { visitor, input, signal, settle, paid: paid[0]!.name });
      }),

    /** A pretend purchase. A shop takes the id from its payment service. */
    buyCredits: t.procedure
      .input(z.object({ id: z.string().min(1).max(100) }))
      .mutation(async ({ ctx: { visitor: key }, input: { id } }) => {
        // Limit: adds the credits of one id once, however often it is sent.
        await limiter.credit("credits", { key, count: CREDITS_SOLD, once: id });
      }),
  });
}
