/** All messages, newest last. Below them stand the messages of this page that have no answer yet. */
import type { RefObject } from "react";
import { useCountdown } from "trpc-rate-limit/react";
import { PassingButton } from "../shared/page/passing-button.js";
import type { Message } from "./use-messages.js";
import type { Outbox } from "./use-outbox.js";

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

export function Messages({
  messages,
  outbox: { pending, held, nextAt },
  field,
  onCancel,
}: {
  messages: readonly Message[] | undefined;
  outbox: Outbox;
  /** Gets the focus when the queue ends, since the queue's button goes away then. */
  field: RefObject<HTMLElement | null>;
  onCancel: () => void;
}) {
  const shown = new Set(messages?.map(({ nonce }) => nonce));

  return (
    <div className="messages" tabIndex={0} role="group" aria-label="Conversation">
      <div>
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
              .map(({ nonce, text, isHeld, sentAt }) => (
                <li key={nonce} className={isHeld ? "mine held" : "mine"}>
                  <p className="by">
                    <b>{isHeld ? "Your message " : "You "}</b>
                    {isHeld ? (
                      <span>{`goes ${sentAt ? `at ${clock.format(sentAt)}` : "next"}`}</span>
                    ) : (
                      <span className="late">Sending…</span>
                    )}
                  </p>
                  <p>{text}</p>
                </li>
              ))}
          </ol>
        </div>
        {/* The queue is not in the log, or a screen reader would read out each second. */}
        {held > 0 && (
          <div className="queue">
            <Queue held={held} nextAt={nextAt} />
            <PassingButton type="button" heir={field} onClick={onCancel}>
              {held === 1 ? "Cancel 1 message" : `Cancel ${held} messages`}
            </PassingButton>
          </div>
        )}
      </div>
    </div>
  );
}

/** The queue in one line. Only this line renders each second. */
function Queue({ held, nextAt }: { held: number; nextAt: number | undefined }) {
  const seconds = useCountdown(nextAt);
  return (
    <p>{`${held} waiting, ${seconds > 0 ? `the next in ${seconds} s` : "the next goes now"}`}</p>
  );
}
