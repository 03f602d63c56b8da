/** A button that knows its limit. The first part shows these lines beside it. */
import {
  RateLimitCountdown,
  RateLimitMeter,
  useRateLimitedMutation,
  useTRPC,
} from "../shared/page/trpc.js";

export function SendButton() {
  const trpc = useTRPC().overview;
  const send = useRateLimitedMutation("sendHello", trpc.send.mutationOptions());
  return (
    <>
      <RateLimitMeter name="sendHello" label="Calls left" smooth />
      <button aria-disabled={!send.canMutate} onClick={() => send.mutate()}>
        <span>{send.canMutate ? "Send" : "Wait "}</span>
        <RateLimitCountdown retryAt={send.retryAt} />
      </button>
    </>
  );
}
