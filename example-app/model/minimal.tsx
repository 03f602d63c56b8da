import { setTimeout as sleep } from "node:timers/promises";
import { useState } from "react";
import { MINUTE } from "trpc-rate-limit";
import { useCountdown } from "trpc-rate-limit/react";
import { z } from "zod";
import { useRateLimit, useTRPCClient } from "../shared/page/trpc.js";
import type { App } from "../shared/server/trpc.js";
import { generate } from "./pretend-model.js";
import { estimate, LENGTHS, type Prompt, wordsOf } from "./prompt.js";

// The limit
export const limits = {
  llmTokens: { kind: "token bucket", rate: 1200, period: MINUTE, maxReserved: 2400 },
} as const;

// The procedure
export const ask = ({ t, rl }: App) =>
  t.procedure
    .input(z.object({ text: z.string().trim().min(1), length: z.literal(LENGTHS) }))
    .use(rl.rateLimited("llmTokens", { count: ({ input }) => estimate(input), reserve: true }))
    .mutation(async function* ({ ctx: { rateLimit }, input, signal }) {
      let used = 0;
      try {
        // Its tokens are reserved: it runs when they are there.
        await sleep(rateLimit.retryAfter ?? 0, undefined, { signal });
        used = wordsOf(input.text).length;
        for await (const word of generate(input, signal)) yield { kind: "word", word, at: ++used };
      } finally {
        await rateLimit.settle(used); // Gives back what was not used.
      }
    });

// The component
export function Ask({ prompt }: { prompt: Prompt }) {
  const client = useTRPCClient();
  const [answer, setAnswer] = useState("");
  const { value, status } = useRateLimit("llmTokens", { count: estimate(prompt) });
  const seconds = useCountdown(status?.retryAt);
  async function send() {
    for await (const event of await client.model.ask.mutate(prompt)) {
      if (event.kind === "word") setAnswer((words) => `${words} ${event.word}`);
    }
  }
  return (
    <p>
      <button onClick={() => void send()}>{seconds > 0 ? `Queue for ${seconds} s` : "Ask"}</button>
      <span>{`${value} tokens left.${answer}`}</span>
    </p>
  );
}
