/** The form to write in. Its button shows how long to wait, and the meter what is left. */
import type { KeyboardEvent, RefObject, SubmitEvent } from "react";
import { Stable } from "../shared/page/pieces.js";
import { RateLimitCountdown, RateLimitMeter } from "../shared/page/trpc.js";
import type { Outbox } from "./use-outbox.js";

const MAX_LENGTH = 500;
const MAX_MESSAGES = 10;

const HINT = `Enter sends. Each line is a message; paste up to ${MAX_MESSAGES}.`;

export function Composer({
  field,
  text,
  onText,
  outbox,
  isLost,
}: {
  field: RefObject<HTMLTextAreaElement | null>;
  text: string;
  onText: (text: string) => void;
  outbox: Outbox;
  /** Whether the page has lost its connection. */
  isLost: boolean;
}) {
  // Limit: the button waits until `canSendAt`, behind the messages that are held.
  const { canSend, canSendAt, held, limit, hasFailed } = outbox;
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const problem = problemOf(lines);
  // Several messages are accepted at any time, since they wait for their turn.
  const mustWait = held > 0 || (!canSend && lines.length < 2);
  const isDisabled = mustWait || lines.length === 0 || problem !== undefined;

  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (isDisabled) return;
    outbox.send(lines);
    onText("");
    // The button may be disabled now, and would take the focus with it.
    field.current?.focus();
  }

  function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>) {
    // While an input method composes a character, Enter chooses it.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.currentTarget.form?.requestSubmit();
  }

  return (
    <form className="composer" onSubmit={submit}>
      <label>
        <span className="hidden">Message</span>
        <textarea
          ref={field}
          rows={1}
          value={text}
          onChange={(event) => onText(event.target.value)}
          onKeyDown={onKeyDown}
          placeholder="Say something"
          enterKeyHint="send"
          autoComplete="off"
          autoFocus
          aria-describedby="composer-note"
        />
      </label>
      <button type="submit" className="primary" disabled={isDisabled}>
        <Stable
          texts={[`Send ${MAX_MESSAGES} messages`]}
          shown={
            mustWait ? (
              <>
                Wait <RateLimitCountdown retryAt={canSendAt} />
              </>
            ) : lines.length > 1 ? (
              `Send ${lines.length} messages`
            ) : (
              "Send"
            )
          }
        />
      </button>
      <div className="left">
        <RateLimitMeter name="sendMessage" label="Messages left" className="meter" />
        <span aria-hidden="true">{limit.value === undefined ? " " : `${limit.value} left`}</span>
      </div>
      <p id="composer-note" className="note" role="status">
        {problem ??
          (hasFailed
            ? "The server did not take it. The text is in the field again."
            : isLost
              ? "No connection. What you send goes out when it is back."
              : HINT)}
      </p>
    </form>
  );
}

function problemOf(lines: readonly string[]): string | undefined {
  if (lines.length > MAX_MESSAGES) {
    return `These are ${lines.length} messages. Send at most ${MAX_MESSAGES} at once.`;
  }
  if (lines.some((line) => line.length > MAX_LENGTH)) {
    return `A message has at most ${MAX_LENGTH} characters.`;
  }
  return undefined;
}
