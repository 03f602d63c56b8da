/**
 * How many calls of the button have left the page while it waited, counted where they leave. `undefined`
 * before the first wait.
 */
import { useEffect, useState } from "react";
import { onSentCall } from "../shared/page/sent-calls.js";
import { useRateLimit } from "../shared/page/trpc.js";

export function useSentWhileWaiting(): number | undefined {
  const { status } = useRateLimit("sendHello");
  const isWaiting = status?.ok === false;
  const [sent, setSent] = useState<number>();
  if (isWaiting && sent === undefined) setSent(0);

  useEffect(() => {
    if (!isWaiting) return undefined;
    let stop = () => {};
    // Count from the next task on: the call with the last token leaves in the task that began the wait.
    const timer = setTimeout(() => {
      stop = onSentCall((path) => {
        if (path === "overview.send") setSent((count = 0) => count + 1);
      });
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [isWaiting]);
  return sent;
}
