/** All messages, newest last, and below them those of this page that have no answer yet. */
import type { Message } from "./use-messages.js";
import type { Outbox } from "./use-outbox.js";

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

export function Messages({
  messages,
  outbox: { pending, total, held },
  onCancel,
}: {
  messages: readonly Message[] | undefined;
  outbox: Outbox;
  onCancel: () => void;
}) {
  const shown = new Set(messages?.map(({ nonce }) => nonce));

  return (
    <div className="messages" tabIndex={0} role="group" aria-label="Conversation">
      <div role="log" aria-label="New messages" aria-busy={!messages}>
        {messages?.length === 0 && pending.length === 0 && (
          <p className="empty">No message yet. Yours can be the first.</p>
        )}
        <ol aria-label="Messages">
          {messages?.map(({ id, author, isMine, text, createdAt }) => (
            <li key={id} className={isMine ? "mine" : undefined}>
              <p className="by">
                <b>{isMine ? "You" : author}</b>{" "}
                <time dateTime={createdAt}>{clock.format(new Date(createdAt))}</time>
              </p>
              <p>{text}</p>
            </li>
          ))}
        </ol>
        <ol aria-label="Not sent yet">
          {pending
            // The message can be in the list above before its answer is here.
            .filter(({ nonce }) => !shown.has(nonce))
            .map(({ nonce, text, isHeld, place, sentAt }) => (
              <li key={nonce} className={isHeld ? "mine held" : "mine"}>
                <p className="by">
                  <b>You</b>{" "}
                  {isHeld ? (
                    `${place} of ${total}${sentAt ? `, at ${clock.format(sentAt)}` : ""}`
                  ) : (
                    <span className="late">Sending…</span>
                  )}
                </p>
                <p>{text}</p>
              </li>
            ))}
        </ol>
        {held > 0 && (
          <button type="button" className="cancel" onClick={onCancel}>
            Cancel {held === 1 ? "1 message" : `${held} messages`}
          </button>
        )}
      </div>
    </div>
  );
}
