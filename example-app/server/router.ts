/** The API: a chat in which each visitor may send so many messages a minute. */
import { initTRPC } from "@trpc/server";
import { createRateLimitTRPC, formatRateLimitError } from "trpc-rate-limit/server";
import { z } from "zod";
import type { PrismaClient } from "../generated/prisma/client.js";
import { createLimiter } from "./limits.js";

export interface Context {
  visitor: string;
}

/** How many messages the page shows. */
const SHOWN = 50;
const MAX_LENGTH = 500;

export function createAppRouter(prisma: PrismaClient) {
  const limiter = createLimiter(prisma);
  const t = initTRPC.context<Context>().create({
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
    sse: {
      ping: { enabled: true, intervalMs: 5_000 },
      client: { reconnectAfterInactivityMs: 10_000 },
    },
  });
  const rl = createRateLimitTRPC({ t, limiter, key: ({ ctx }) => ctx.visitor });

  return t.router({
    rateLimit: rl.router,
    chat: t.router({
      list: t.procedure.query(async ({ ctx }) => {
        const messages = await prisma.message.findMany({ orderBy: { id: "desc" }, take: SHOWN });
        return messages.reverse().map(({ id, visitor, text, createdAt }) => ({
          id,
          text,
          author: `Guest ${visitor.slice(0, 4)}`,
          mine: visitor === ctx.visitor,
          createdAt: createdAt.toISOString(),
        }));
      }),
      // The limit stands after the input, so a message that is refused for its text costs nothing.
      send: t.procedure
        .input(z.object({ text: z.string().trim().min(1).max(MAX_LENGTH) }))
        .use(rl.rateLimited("sendMessage"))
        .mutation(async ({ ctx, input }) => {
          const { id } = await prisma.message.create({
            data: { visitor: ctx.visitor, text: input.text },
          });
          return { id };
        }),
    }),
  });
}

export type AppRouter = ReturnType<typeof createAppRouter>;
