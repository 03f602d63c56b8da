/** The prompt, the longest answer, and what would happen to it now. */
import { type SubmitEvent, useState } from "react";
import { Stable, timeOf } from "../shared/page/pieces.js";
import { estimate, LENGTHS, MAX_PROMPT, type Prompt, wordsOf } from "./prompt.js";
import { type Forecast, useForecast } from "./use-forecast.js";
import { MAX_OPEN } from "./use-prompts.js";

const LABELS: Record<Forecast["kind"], string> = {
  unknown: "Ask",
  runs: "Ask",
  queues: "Join the queue",
  denied: "Ask anyway",
  impossible: "Ask anyway",
};

export function AskForm({ onAsk, isFull }: { onAsk: (prompt: Prompt) => void; isFull: boolean }) {
  const [prompt, setPrompt] = useState<Prompt>({
    text: "the quick brown fox jumps over the lazy dog",
    length: 1_000,
  });
  const tokens = estimate(prompt);
  const words = wordsOf(prompt.text).length;
  const next = useForecast(tokens);
  const isReady = !isFull && words > 0;

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
          Estimate: {words} + {prompt.length.toLocaleString("en")} ={" "}
          <b>{tokens.toLocaleString("en")} tokens</b>
        </p>
        <p>
          {isFull
            ? `This page asks ${MAX_OPEN} prompts at a time. Stop one, or wait.`
            : describe(next)}
        </p>
      </div>
      <button className="primary" aria-describedby="forecast" aria-disabled={!isReady}>
        <Stable shown={LABELS[next.kind]} texts={[...new Set(Object.values(LABELS))]} />
      </button>
    </form>
  );
}

function describe(next: ReturnType<typeof useForecast>): string {
  if (next.kind === "runs") return "It would run at once.";
  if (next.kind === "queues") {
    return `It would queue, and run at ${timeOf(next.at)}, in ${next.seconds} s.`;
  }
  if (next.kind === "denied") {
    return `It would be denied: the queue has no room for it. It has in ${next.seconds} s.`;
  }
  if (next.kind === "impossible") {
    const most = next.most.toLocaleString("en");
    return `It can never run on this tier, which grants ${most} tokens to one prompt at most.`;
  }
  return "What is left is not known yet.";
}
