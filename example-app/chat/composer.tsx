/** The form to write in. Its button shows how long to wait, and the meter what is left. */
import type { KeyboardEvent, RefObject, SubmitEvent } from "react";
import { IS_FRAME } from "../shared/page/seat.js";
import { RateLimitMeter } from "../shared/page/trpc.js";
import { useNotYet, WaitButton } from "../shared/page/wait-button.js";
import type { Outbox } from "./use-outbox.js";

const MAX_LENGTH = 500;
const MAX_MESSAGES = 10;

const HINT = `Enter sends. Each line is a message; paste up to ${MAX_MESSAGES}.`;

export function Composer({
  field,
  outbox,
  isLost,
}: {
  field: RefObject<HTMLTextAreaElement | null>;
  outbox: Outbox;
  /** Whether the page has lost its connection. */
  isLost: boolean;
}) {
  // Limit: the button waits until `canSendAt`, behind the messages that are held.
  const { text, setText, canSend, canSendAt, held, limit, hasFailed } = outbox;
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const problem = problemOf(lines);
  // One rule for one line and for ten: the form opens when the first can go, and the rest wait for their
  // turn. Without a connection, accept all: they go by themselves later.
  const mustWait = !isLost && (held > 0 || !canSend);
  const isReady = lines.length > 0 && problem === undefined;
  const { line: notYet, sayNotYet } = useNotYet(mustWait ? canSendAt : undefined);

  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (!isReady) return;
    if (mustWait) return sayNotYet();
    outbox.send(lines);
    setText("");
    // A button that is disabled loses the focus, so move the focus to the field.
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
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
          placeholder="Say something"
          enterKeyHint="send"
          autoComplete="off"
          // Two frames must not take the focus from each other.
          autoFocus={!IS_FRAME}
          aria-describedby="composer-note"
        />
      </label>
      <WaitButton
        type="submit"
        className="primary"
        retryAt={mustWait ? canSendAt : undefined}
        isWaiting={mustWait}
        isReady={isReady}
        texts={[`Send ${MAX_MESSAGES} messages`]}
      >
        {lines.length > 1 ? `Send ${lines.length} messages` : "Send"}
      </WaitButton>
      <div className="left">
        <RateLimitMeter name="sendMessage" label="Messages left" className="meter" smooth />
        <span aria-hidden="true">{limit.value === undefined ? " " : `${limit.value} left`}</span>
      </div>
      <p id="composer-note" className="note" role="status">
        {problem ??
          notYet ??
          (hasFailed
            ? "The server did not take it. The text is in the field again."
            : isLost
              ? "What you send goes out when the server is back."
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
