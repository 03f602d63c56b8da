/** The prompts in the order of the queue, in which they were asked. */
import { useLayoutEffect, useRef } from "react";
import { useCountdown } from "trpc-rate-limit/react";
import { PassingButton } from "../shared/page/passing-button.js";
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
  const list = useRef<HTMLOListElement>(null);
  const isAskedAgain = useRef(false);

  function askAgain(asked: AskedPrompt) {
    if (isFull) return;
    isAskedAgain.current = true;
    onAskAgain(asked);
  }

  // A prompt that is asked again moves to the end and loses its button, so move the focus to the prompt.
  // Use a layout effect: a passive effect from before the press may still run, and would look for the
  // prompt too early.
  useLayoutEffect(() => {
    if (isAskedAgain.current) (list.current?.lastElementChild as HTMLElement | null)?.focus();
    isAskedAgain.current = false;
  }, [prompts]);

  return (
    <div className="answers">
      <h2 className="hidden">Prompts</h2>
      {/* Says only what has happened, not each word or each second. */}
      <p role="status" className="hidden">
        {news && NEWS[news]}
      </p>
      {prompts.length > 0 && <Queue prompts={prompts} />}
      {prompts.length === 0 && (
        <p className="card empty">
          Ask once. The answer is far shorter than its longest, so most of the tokens flow back at
          its end. Then ask twice at once: the second prompt queues, because the first has taken
          most of the tokens. Ask four times, and the last one is denied. With credits, it runs at
          once.
        </p>
      )}
      <ol ref={list}>
        {prompts.map((asked) => (
          <Asked key={asked.id} {...{ asked, isFull, onStop }} onAskAgain={askAgain} />
        ))}
      </ol>
    </div>
  );
}

function Asked({
  asked,
  isFull,
  onStop,
  onAskAgain,
}: Pick<AnswersProps, "isFull" | "onStop" | "onAskAgain"> & { asked: AskedPrompt }) {
  const { id, prompt, state } = asked;
  const item = useRef<HTMLLIElement>(null);
  const isDenied = state.kind === "denied" || state.kind === "impossible";
  return (
    <li ref={item} className="card" tabIndex={-1}>
      <div className="asked">
        {/* A long prompt scrolls, also by the keyboard. */}
        <p className="prompt" tabIndex={0}>
          {prompt.text}
        </p>
        {isOpen(asked) && (
          <PassingButton heir={item} onClick={() => onStop(id)}>
            <span>{state.kind === "running" ? "Stop" : "Cancel"}</span>
            <span className="hidden">{`: ${prompt.text}`}</span>
          </PassingButton>
        )}
        {isDenied && (
          <button aria-disabled={isFull} onClick={() => onAskAgain(asked)}>
            Ask again
          </button>
        )}
      </div>
      {isDenied ? <Denied tokens={estimate(prompt)} /> : <Answer {...asked} />}
    </li>
  );
}

const NEWS: Record<PromptState["kind"], string> = {
  sent: "The prompt is sent.",
  queued: "A prompt waits in the queue.",
  waiting: "A prompt waits for a slot.",
  running: "A prompt is being answered.",
  bill: "An answer is complete.",
  stopped: "A prompt was stopped.",
  denied: "The prompt was denied.",
  impossible: "The prompt can never run on this plan.",
  lost: "The connection of a prompt broke.",
};

/** Has its final height from the beginning, so that the prompts below never move. */
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
  waiting: "Its turn has come. It runs as soon as one of the other answers ends.",
  stopped: "Cancelled before its turn.",
};

const NOTES = {
  queued: "If you cancel it, the tokens that no later prompt relies on come back.",
  waiting: "If you cancel it, the tokens that were not refilled by then come back.",
  running:
    "The tokens that it does not use come back when it ends, unless they were refilled by then.",
  stopped: "Stopped. What was not used comes back, unless refilled or needed by the queue.",
  lost: "The connection broke. This page does not know what was used and given back.",
  allBack: "All unused tokens have come back.",
  notAllBack: "The rest stays charged: it had been refilled, or the queue relies on it.",
  creditsBack: "Paid with credits. All unused ones have come back.",
  creditsNotAllBack: "Paid with credits. The rest did not fit: the balance is full.",
};

function noteOf(state: PromptState): string {
  if (state.kind === "bill") {
    const isBack = state.used + state.returned === state.estimated;
    if (state.paid === "credits") return isBack ? NOTES.creditsBack : NOTES.creditsNotAllBack;
    return isBack ? NOTES.allBack : NOTES.notAllBack;
  }
  return state.kind in NOTES ? NOTES[state.kind as keyof typeof NOTES] : "";
}

/** The queue in one line. Only this line renders each second. */
function Queue({ prompts }: { prompts: readonly AskedPrompt[] }) {
  const turns = prompts.flatMap(({ state }) => (state.kind === "queued" ? [state.until] : []));
  const seconds = useCountdown(turns.length > 0 ? Math.min(...turns) : undefined);
  const next = seconds > 0 ? `the next in ${seconds} s` : "the next goes now";
  return (
    <p className="queue">
      {turns.length > 0 ? `${turns.length} waiting, ${next}` : "None waiting"}
    </p>
  );
}

function Queued({ since, until }: { since: number; until: number }) {
  const seconds = useCountdown(until);
  const total = Math.max(1, Math.ceil((until - since) / 1000));
  return (
    <div className="queued">
      <progress max={total} value={total - seconds} aria-label="Wait in the queue" />
      <p>{`Its tokens are reserved. It runs at ${timeOf(until)}, in ${seconds} s.`}</p>
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

/** The answer that a denied prompt would get now. */
const WOULD_GET: Record<string, string> = {
  runs: "It would run now.",
  credits: "Your credits pay for it now, and it would run.",
  queues: "It would find a place in the queue now.",
};

/** Says what is true now, for example after a change of the plan. */
function Denied({ tokens }: { tokens: number }) {
  const { kind, seconds } = useForecast(tokens);
  const count = tokens.toLocaleString("en");
  if (kind === "impossible") {
    return (
      <p className="denied">
        <span>{`Denied for good: this plan never grants ${count} tokens to one prompt, so waiting does not help. `}</span>
        <span>Choose a shorter answer, or the paid plan.</span>
      </p>
    );
  }
  return (
    <p className="denied">
      <span>
        {kind === "denied"
          ? `Denied: the queue has no room for ${count} more tokens. Nothing was taken. `
          : "It was denied. Nothing was taken. "}
      </span>
      <span>
        {kind === "denied" ? `The queue has room for it in ${seconds} s.` : WOULD_GET[kind]}
      </span>
    </p>
  );
}
