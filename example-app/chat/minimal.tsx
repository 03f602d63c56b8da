import { useState } from "react";
import { MINUTE } from "trpc-rate-limit";
import { z } from "zod";
import { RateLimitCountdown, useRateLimitedMutation, useTRPC } from "../shared/page/trpc.js";
import type { App } from "../shared/server/trpc.js";

// The limit
export const limits = {
  sendMessage: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
} as const;

// The procedure
export const sendMessage = ({ t, rl, prisma }: App) =>
  t.procedure
    .input(z.object({ text: z.string().trim().min(1), nonce: z.uuid() }))
    .use(rl.rateLimited("sendMessage"))
    .mutation(({ ctx: { visitor }, input }) =>
      prisma.message.create({ data: { visitor, ...input } }),
    );

// The component
export function SendMessage() {
  const trpc = useTRPC();
  const [text, setText] = useState("");
  // Messages beyond the limit wait for their turn, and go by themselves.
  const send = useRateLimitedMutation("sendMessage", {
    ...trpc.chat.send.mutationOptions(),
    whenLimited: "wait",
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send.mutate({ text, nonce: crypto.randomUUID() });
        setText("");
      }}
    >
      <input aria-label="Message" value={text} onChange={({ target }) => setText(target.value)} />
      <button disabled={text.trim() === ""}>Send</button>
      {send.held > 0 && (
        <p>
          <span>{`${send.held} waiting, the next for `}</span>
          <RateLimitCountdown retryAt={send.retryAt} />
        </p>
      )}
    </form>
  );
}
