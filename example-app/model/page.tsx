/** A language model that costs tokens: estimates, a queue of reservations, bills, two plans, credits. */
import code from "code:./minimal.tsx";
import { useCountdown } from "trpc-rate-limit/react";
import { Part, timeOf } from "../shared/page/pieces.js";
import { RateLimitMeter, useRateLimit } from "../shared/page/trpc.js";
import { Answers } from "./answers.js";
import { AskForm } from "./ask-form.js";
import { Credits } from "./credits.js";
import "../shared/page/choice.css";
import "./page.css";
import { Plans } from "./plans.js";
import { KeptPrompts, useKeptPrompts } from "./kept-prompts.js";
import { estimate, type Prompt } from "./prompt.js";
import { isForCredits } from "./use-forecast.js";
import { isOpen, MAX_OPEN, type Prompts } from "./use-prompts.js";

/** Where a `KeptPrompts` stands above, the prompts go on while another part is shown. */
export default function Model() {
  const kept = useKeptPrompts();
  if (kept) return <AskedModel kept={kept} />;
  return (
    <KeptPrompts>
      <Model />
    </KeptPrompts>
  );
}

function AskedModel({ kept: { prompts, news, ask, stop } }: { kept: Prompts }) {
  const limits = { llmTokens: useRateLimit("llmTokens"), credits: useRateLimit("credits") };
  const last = prompts.at(-1)?.state;
  const isFull = prompts.filter(isOpen).length >= MAX_OPEN;

  function send(prompt: Prompt, replaced?: number) {
    void ask(prompt, isForCredits(limits, estimate(prompt)), replaced);
  }

  return (
    <Part
      title="Ask the model"
      code={code}
      lead="The model is a stand-in: a prompt takes the tokens that it may need, and gives back those that it does not use."
    >
      <div className="model">
        <div className="card ask">
          <AskForm onAsk={(prompt) => send(prompt)} isFull={isFull} />
          <Plans />
          <TokensLeft returned={last?.kind === "bill" ? last.returned : 0} />
          <Credits />
          <SlotsFree />
        </div>
        <Answers
          prompts={prompts}
          news={news}
          isFull={isFull}
          onStop={stop}
          onAskAgain={({ id, prompt }) => send(prompt, id)}
        />
      </div>
    </Part>
  );
}

/**
 * The tokens that remain, and how long the queue is.
 *
 * @param returned how many tokens the last answer has given back.
 */
function TokensLeft({ returned }: { returned: number }) {
  // Limit: what is left, live.
  const { value, config } = useRateLimit("llmTokens");
  // A call for no tokens passes when nothing is owed to the queue any more.
  const { status } = useRateLimit("llmTokens", { count: 0 });
  const queue = useCountdown(status?.retryAt);
  const format = (tokens: number | undefined) => tokens?.toLocaleString("en") ?? "…";

  return (
    <div className="tokens-left">
      <RateLimitMeter name="llmTokens" label="Tokens left" className="meter" smooth />
      <p>
        <span>
          <b>{format(value)}</b>
          <span>{` of ${format(config?.capacity ?? config?.rate)} tokens left`}</span>
        </span>
        <span>
          {queue > 0
            ? `queue: ${queue} s`
            : returned > 0
              ? `${format(returned)} came back`
              : "nothing queued"}
        </span>
      </p>
    </div>
  );
}

/** The slots that no answer holds. */
function SlotsFree() {
  // Limit: the same hook as for tokens. One token is one slot.
  const { value, config, status } = useRateLimit("generations");
  const free = value?.toLocaleString("en") ?? "…";

  return (
    <div className="tokens-left">
      <RateLimitMeter name="generations" label="Slots free" className="meter" />
      <p>
        <span>
          <b>{free}</b>
          <span>{` of ${config?.slots ?? "…"} slots free`}</span>
        </span>
        {/* The server renews the slot while the answer runs, and frees it with the answer. */}
        {status?.retryAt !== undefined && <span>{`held until ${timeOf(status.retryAt)}`}</span>}
      </p>
    </div>
  );
}
