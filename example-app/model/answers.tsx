/** The prompts in the order in which they were asked, which is the order of the queue. */
import { useCountdown } from "trpc-rate-limit/react";
import { Stable, timeOf } from "../shared/page/pieces.js";
import { estimate, wordsOf } from "./prompt.js";
import { useForecast } from "./use-forecast.js";
import { type AskedPrompt, isOpen, type PromptState } from "./use-prompts.js";

interface AnswersProps {
  prompts: readonly AskedPrompt[];
  news: PromptState["kind"] | undefined;
  isFull: boolean;
  onStop: (id: number) => void;
  onAskAgain: (asked: AskedPrompt) => void;
}

export function Answers({ prompts, news, isFull, onStop, onAskAgain }: AnswersProps) {
  return (
    <div className="answers">
      <h2 className="hidden">Prompts</h2>
      {/* Says what has happened, and neither each word nor each second. */}
      <p role="status" className="hidden">
        {news && NEWS[news]}
      </p>
      {prompts.length === 0 && (
        <p className="card empty">
          Ask for 1,000 words twice on the free tier: the second prompt queues, because the first
          has taken most of the tokens. Ask four times, and the last one is denied.
        </p>
      )}
      <ol>
        {prompts.map((asked) => (
          <li key={asked.id} className="card" tabIndex={-1}>
            <div className="asked">
              <p className="prompt">{asked.prompt.text}</p>
              {isOpen(asked) && (
                <button
                  onClick={({ currentTarget }) => {
                    // The button goes away. It would take the focus with it.
                    currentTarget.closest("li")?.focus();
                    onStop(asked.id);
                  }}
                >
                  {asked.state.kind === "running" ? "Stop" : "Cancel"}
                  <span className="hidden">: {asked.prompt.text}</span>
                </button>
              )}
              {asked.state.kind === "denied" && (
                <button aria-disabled={isFull} onClick={() => onAskAgain(asked)}>
                  Ask again
                </button>
              )}
            </div>
            {asked.state.kind === "denied" || asked.state.kind === "impossible" ? (
              <Denied
                isForever={asked.state.kind === "impossible"}
                tokens={estimate(asked.prompt)}
              />
            ) : (
              <Answer {...asked} />
            )}
          </li>
        ))}
      </ol>
    </div>
  );
}

const NEWS: Record<PromptState["kind"], string> = {
  sent: "The prompt is sent.",
  queued: "A prompt waits in the queue.",
  running: "A prompt is being answered.",
  bill: "An answer is complete.",
  stopped: "A prompt was stopped.",
  denied: "The prompt was denied.",
  impossible: "The prompt can never run on this tier.",
  lost: "The connection of a prompt broke.",
};

/** As high from the beginning as it is at the end, so that the prompts behind it never move. */
function Answer({ prompt, state, words }: AskedPrompt) {
  const estimated = estimate(prompt);
  const used = wordsOf(prompt.text).length + words.length;
  return (
    <>
      {words.length > 0 ? (
        <p className="answer" tabIndex={0}>
          <span>{words.join(" ")}</span>
        </p>
      ) : (
        <div className="answer">
          {state.kind === "queued" ? <Queued {...state} /> : <span>{BEFORE[state.kind]}</span>}
        </div>
      )}
      <dl>
        <Figure name="estimated" value={estimated.toLocaleString("en")} />
        <Figure name="used" value={words.length > 0 ? used.toLocaleString("en") : "0"} />
        <Figure
          name="given back"
          value={state.kind === "bill" ? state.returned.toLocaleString("en") : "–"}
        />
      </dl>
      <p className="note">
        <Stable shown={noteOf(state)} texts={Object.values(NOTES)} />
      </p>
    </>
  );
}

const BEFORE: Partial<Record<PromptState["kind"], string>> = {
  sent: "Sent…",
  stopped: "Cancelled before its turn.",
};

const NOTES = {
  queued: "If you cancel it, what no later prompt relies on comes back.",
  running: "What it does not use comes back at its end, unless it was refilled by then.",
  stopped: "Stopped. What was not used comes back, unless refilled or needed by the queue.",
  lost: "The connection broke. What was used and given back is not known here.",
  allBack: "All that was not used has come back.",
  notAllBack: "The rest stays charged: it had been refilled, or the queue relies on it.",
};

function noteOf(state: PromptState): string {
  if (state.kind === "bill") {
    const isBack = state.used + state.returned === state.estimated;
    return isBack ? NOTES.allBack : NOTES.notAllBack;
  }
  return state.kind in NOTES ? NOTES[state.kind as keyof typeof NOTES] : "";
}

function Queued({ since, until }: { since: number; until: number }) {
  const seconds = useCountdown(until);
  const total = Math.max(1, Math.ceil((until - since) / 1000));
  return (
    <div className="queued">
      <progress max={total} value={total - seconds} aria-label="Wait in the queue" />
      <p>
        Its tokens are reserved. It runs at {timeOf(until)}, in {seconds} s.
      </p>
    </div>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** What has changed since the denial, such as the tier, counts at once. */
function Denied({ isForever, tokens }: { isForever: boolean; tokens: number }) {
  const { kind, seconds } = useForecast(tokens);
  const count = tokens.toLocaleString("en");
  return (
    <p className="denied">
      {isForever
        ? `Denied for ever: this tier never grants ${count} tokens to one prompt, so no wait helps.`
        : `Denied: the queue has no room for ${count} more tokens. Nothing was taken.`}{" "}
      <span>
        {kind === "runs" && "It would run now."}
        {kind === "queues" && "It would find a place in the queue now."}
        {kind === "denied" && `The queue has room for it in ${seconds} s.`}
        {kind === "impossible" && "Choose a shorter answer, or the paid tier."}
      </span>
    </p>
  );
}
