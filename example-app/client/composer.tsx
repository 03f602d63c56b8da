/** The form to write in. Its button shows the tokens that remain, and how long to wait. */
import { useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useRef, useState } from "react";
import { isRateLimitError } from "trpc-rate-limit/react";
import { RateLimitCountdown, RateLimitMeter, useRateLimitedMutation, useTRPC } from "./trpc.js";

export function Composer() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [text, setText] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const send = useRateLimitedMutation(
    "sendMessage",
    trpc.chat.send.mutationOptions({
      onSuccess: (_data, sent) => {
        // Clear only what was sent: the visitor may have typed more meanwhile.
        setText((typed) => (typed === sent.text ? "" : typed));
        return queryClient.invalidateQueries(trpc.chat.list.queryFilter());
      },
    }),
  );
  const remaining = send.limit.value;

  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    send.mutate({ text });
    // The button is about to be disabled. It would take the focus with it.
    input.current?.focus();
  }

  return (
    <form className="composer" onSubmit={submit}>
      <label>
        <span className="hidden">Message</span>
        <input
          ref={input}
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder="Say something…"
          maxLength={500}
          autoComplete="off"
          autoFocus
        />
      </label>
      <button type="submit" disabled={!send.canMutate || send.isPending || text.trim() === ""}>
        {send.canMutate ? (
          <>Send{remaining !== undefined && ` (${remaining} left)`}</>
        ) : (
          <>
            Wait <RateLimitCountdown retryAt={send.retryAt} />
          </>
        )}
      </button>
      <RateLimitMeter name="sendMessage" label="Messages left" className="meter" />
      {send.error && (
        <p role="alert">
          {isRateLimitError(send.error)
            ? "That was too quick; your text is still here."
            : "That could not be sent; your text is still here."}
        </p>
      )}
    </form>
  );
}
