/** A language model that costs tokens: estimates, a queue of reservations, bills, and two tiers. */
import { useCountdown } from "trpc-rate-limit/react";
import { Part } from "../shared/page/pieces.js";
import { RateLimitMeter, useRateLimit } from "../shared/page/trpc.js";
import { Answers } from "./answers.js";
import { AskForm } from "./ask-form.js";
import "./page.css";
import { Tiers } from "./tiers.js";
import { isOpen, MAX_OPEN, usePrompts } from "./use-prompts.js";

export default function Model() {
  const { prompts, news, ask, stop } = usePrompts();
  const isFull = prompts.filter(isOpen).length >= MAX_OPEN;

  return (
    <Part
      title="Ask the model"
      lead={
        <>
          A pretend model: it repeats your words, forwards and backwards. Every word is a token. A
          prompt takes its estimate first. What it has not used comes back at the end, except for
          what the bucket has refilled by then.
        </>
      }
    >
      <div className="model">
        <div className="card ask">
          <Tiers />
          <TokensLeft />
          <AskForm onAsk={(prompt) => void ask(prompt)} isFull={isFull} />
        </div>
        <Answers
          prompts={prompts}
          news={news}
          isFull={isFull}
          onStop={stop}
          onAskAgain={({ id, prompt }) => void ask(prompt, id)}
        />
      </div>
    </Part>
  );
}

/** The tokens that remain, and how long the queue is. */
function TokensLeft() {
  // Limit: what is left, live.
  const { value, config } = useRateLimit("llmTokens");
  // A call for no tokens passes when nothing is owed to the queue any more.
  const { status } = useRateLimit("llmTokens", { count: 0 });
  const queue = useCountdown(status?.retryAt);
  const format = (tokens: number | undefined) => tokens?.toLocaleString("en") ?? "…";

  return (
    <div className="tokens-left">
      <RateLimitMeter name="llmTokens" label="Tokens left" className="meter" />
      <p>
        <span>
          <b>{format(value)}</b> of {format(config?.capacity ?? config?.rate)} tokens left
        </span>
        <span>{queue > 0 ? `queue: ${queue} s` : "nothing queued"}</span>
      </p>
    </div>
  );
}
