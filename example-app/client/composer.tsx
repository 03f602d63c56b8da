/** Where one writes. The button follows the limit: what is left, how long to wait, and go again. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { isRateLimitError } from "trpc-rate-limit/react";
import { RateLimitCountdown, useRateLimit, useTRPC } from "./trpc.js";

export function Composer() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { status, value: left } = useRateLimit("sendMessage");
  const [text, setText] = useState("");
  const send = useMutation(
    trpc.chat.send.mutationOptions({
      onSuccess: () => {
        setText("");
        return queryClient.invalidateQueries(trpc.chat.list.queryFilter());
      },
    }),
  );

  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    send.mutate({ text });
  }

  const waiting = status?.ok === false;
  return (
    <form className="composer" onSubmit={submit}>
      <label>
        <span className="hidden">Message</span>
        <input
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder="Say something…"
          maxLength={500}
          autoComplete="off"
          autoFocus
        />
      </label>
      <button type="submit" disabled={waiting || send.isPending || text.trim() === ""}>
        {waiting ? (
          <>
            Wait <RateLimitCountdown retryAt={status.retryAt} />
          </>
        ) : (
          <>Send{left !== undefined && ` (${left} left)`}</>
        )}
      </button>
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
