/** A chat in which each visitor may send so many messages a minute. */
import { z } from "zod";
import type { App } from "./trpc.js";

/** How many messages the page shows. */
const SHOWN = 50;
const MAX_LENGTH = 500;

export function chatRouter({ t, rl, prisma }: App) {
  return t.router({
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
    // The limit stands after the input, so a message whose text is not valid costs nothing.
    send: t.procedure
      .input(z.object({ text: z.string().trim().min(1).max(MAX_LENGTH) }))
      .use(rl.rateLimited("sendMessage"))
      .mutation(async ({ ctx, input }) => {
        const { id } = await prisma.message.create({
          data: { visitor: ctx.visitor, text: input.text },
        });
        return { id };
      }),
  });
}
