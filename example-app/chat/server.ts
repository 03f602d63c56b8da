/** A chat in which each visitor may send a limited number of messages a minute. */
import { tracked } from "@trpc/server";
import { z } from "zod";
import type { Message } from "../shared/generated/prisma/client.js";
import type { App } from "../shared/server/trpc.js";
import { whenFree } from "../shared/server/when-free.js";
import { createChatFeed } from "./feed.js";

const MAX_LENGTH = 500;
/** The highest id that the column can hold. */
const MAX_ID = 2 ** 31 - 1;

export function chatRouter({ t, rl, prisma }: App) {
  const feed = createChatFeed(prisma);

  return t.router({
    /** The newest messages, and then each new one. A page that lost its connection misses no message. */
    messages: t.procedure
      .input(z.object({ lastEventId: z.coerce.number().int().min(0).max(MAX_ID).nullish() }))
      .subscription(async function* ({ ctx, input, signal }) {
        let last = input.lastEventId ?? 0;
        for await (const messages of feed.follow(last, signal)) {
          for (const { id } of messages) last = Math.max(last, id);
          // When the connection is lost, the page asks for what came after this id.
          yield tracked(
            String(last),
            messages.map((message) => viewFor(ctx.visitor, message)),
          );
        }
      }),

    send: t.procedure
      .input(
        z.object({
          text: z.string().trim().min(1).max(MAX_LENGTH),
          /**
           * The page makes the nonce. A message without an answer is sent again, also after a reload. By
           * its nonce, the server stores it once and takes one token.
           */
          nonce: z.string().min(16).max(64),
        }),
      )
      // Limit: the limit stands after the input, so a message whose text is not valid costs nothing.
      .use(rl.rateLimited("sendMessage", { once: ({ input }) => input.nonce }))
      .mutation(async ({ ctx: { visitor }, input: { text, nonce } }) => {
        const message = await whenFree(prisma, () =>
          prisma.message.upsert({
            where: { visitor_nonce: { visitor, nonce } },
            create: { visitor, text, nonce },
            update: {},
          }),
        );
        feed.publish(message);
        return viewFor(visitor, message);
      }),
  });
}

/** A visitor's id is a secret of that visitor, so others get a name that is made of its beginning. */
function viewFor(reader: string, { id, visitor, text, nonce, createdAt }: Message) {
  const isMine = visitor === reader;
  return {
    id,
    text,
    author: `Guest ${visitor.slice(0, 4)}`,
    isMine,
    nonce: isMine ? nonce : null,
    createdAt: createdAt.toISOString(),
  };
}
