/** The prompt, the longest answer, and what would happen to it now. */
import { type KeyboardEvent, type SubmitEvent, useState } from "react";
import { timeOf } from "../shared/page/pieces.js";
import { useRateLimit } from "../shared/page/trpc.js";
import { useNotYet, WaitButton } from "../shared/page/wait-button.js";
import { estimate, LENGTHS, MAX_PROMPT, type Prompt, wordsOf } from "./prompt.js";
import { type Forecast, useForecast } from "./use-forecast.js";
import { MAX_OPEN } from "./use-prompts.js";

const LABELS: Record<Forecast["kind"], string> = {
  unknown: "Ask",
  runs: "Ask",
  credits: "Ask",
  queues: "Join the queue",
  denied: "Ask anyway",
  impossible: "Ask anyway",
};

/** The forecasts for a prompt that can be paid for, while no slot is free. */
const WAITS = {
  tokens: "It would wait for a slot, until one of the answers ends.",
  credits: "Your credits pay for it, and it would wait for a slot.",
};

export function AskForm({ onAsk, isFull }: { onAsk: (prompt: Prompt) => void; isFull: boolean }) {
  const [prompt, setPrompt] = useState<Prompt>({
    text: "the quick brown fox jumps over the lazy dog",
    length: 1_000,
  });
  const tokens = estimate(prompt);
  const words = wordsOf(prompt.text).length;
  const next = useForecast(tokens);
  // Limit: whether a slot is free.
  const { status: slot } = useRateLimit("generations");
  const isPaid = next.kind === "runs" || next.kind === "credits";
  const needsSlot = isPaid && slot?.ok === false;
  const isReady = !isFull && words > 0;
  const { line: notYet, sayNotYet } = useNotYet(next.kind === "denied" ? next.at : undefined);

  /**
   * Enter asks. If the prompt would be denied, Enter says when it passes instead. The button asks anyway.
   */
  function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>) {
    // While an input method composes a character, Enter chooses it.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (next.kind === "denied") sayNotYet();
    else event.currentTarget.form?.requestSubmit();
  }

  // The button is never really disabled, so that it keeps the focus.
  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (isReady) onAsk(prompt);
  }

  return (
    <form onSubmit={submit}>
      <label className="field">
        Prompt
        <textarea
          rows={3}
          value={prompt.text}
          maxLength={MAX_PROMPT}
          onChange={({ target }) => setPrompt({ ...prompt, text: target.value })}
          onKeyDown={onKeyDown}
        />
      </label>
      <fieldset className="choice">
        <legend>Longest answer, in words</legend>
        {LENGTHS.map((length) => (
          <label key={length}>
            <input
              type="radio"
              name="length"
              checked={prompt.length === length}
              onChange={() => setPrompt({ ...prompt, length })}
            />
            <span>{length.toLocaleString("en")}</span>
          </label>
        ))}
      </fieldset>
      <div className="forecast" id="forecast">
        <p>
          <span>{`Estimate: ${words} + ${prompt.length.toLocaleString("en")} = `}</span>
          <b>{`${tokens.toLocaleString("en")} tokens`}</b>
        </p>
        <p>
          {isFull
            ? `This page runs ${MAX_OPEN} prompts at a time. Stop one, or wait.`
            : needsSlot
              ? WAITS[next.kind === "credits" ? "credits" : "tokens"]
              : describe(next)}
        </p>
      </div>
      <WaitButton
        className="primary"
        aria-describedby="forecast"
        retryAt={isReady && "at" in next ? next.at : undefined}
        isWaiting={false}
        isReady={isReady}
        texts={[...new Set(Object.values(LABELS))]}
      >
        {LABELS[needsSlot ? "queues" : next.kind]}
      </WaitButton>
      <p role="status" className="not-yet">
        {notYet}
      </p>
    </form>
  );
}

function describe(next: ReturnType<typeof useForecast>): string {
  if (next.kind === "runs") return "It would run at once.";
  if (next.kind === "credits") return "Your credits pay for it, and it would run at once.";
  if (next.kind === "queues") {
    return `It would queue, and run at ${timeOf(next.at)}, in ${next.seconds} s.`;
  }
  if (next.kind === "denied") {
    return `It would be denied: the queue has no room for it. There will be room in ${next.seconds} s.`;
  }
  if (next.kind === "impossible") {
    const most = next.most.toLocaleString("en");
    return `It can never run on this plan, which grants ${most} tokens to one prompt at most.`;
  }
  return "What is left is not known yet.";
}
