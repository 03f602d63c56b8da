/** A call that the button above would not send, for those who want to hear it from the server. */
import { useMutation } from "@tanstack/react-query";
import { useRateLimit, useTRPC } from "../shared/page/trpc.js";
import { useSentWhileWaiting } from "./use-sent-while-waiting.js";

/** Tells calls of this button from those of the button above. */
export const ANYWAY = { isAnyway: true };

export function CallAnyway() {
  const trpc = useTRPC();
  const { status } = useRateLimit("sendHello");
  const isWaiting = status?.ok === false;
  const sent = useSentWhileWaiting();
  // Limit: a plain mutation knows no limit, so the call is sent, and the server denies it.
  const call = useMutation(trpc.overview.send.mutationOptions({ meta: ANYWAY }));

  return (
    <div className="anyway">
      {/* Before the first wait, the line would say nothing. It keeps its room. */}
      <p hidden={sent === undefined}>
        <span>Requests sent while waiting: </span>
        <b>{sent}</b>
      </p>
      <button type="button" aria-disabled={!isWaiting} onClick={() => isWaiting && call.mutate()}>
        Call anyway
      </button>
    </div>
  );
}
