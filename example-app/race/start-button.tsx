/** Starts a race, or counts down to when the visitor may start the next race. */
import type { ReactNode } from "react";
import { isRateLimitError } from "trpc-rate-limit/react";
import { SENDS_LATER } from "../shared/page/use-connection.js";
import { useNotYet, WaitButton } from "../shared/page/wait-button.js";

interface Race {
  isPending: boolean;
  isPaused: boolean;
  canMutate: boolean;
  retryAt: number | undefined;
  error: unknown;
}

/** @param children what the race said, for the status below the button. */
export function StartButton({
  text,
  race: { isPending, isPaused, canMutate, retryAt, error },
  onStart,
  children,
}: {
  text: string;
  race: Race;
  onStart: () => void;
  children: ReactNode;
}) {
  const { line, sayNotYet } = useNotYet(canMutate ? undefined : retryAt);

  function press() {
    if (!canMutate) sayNotYet();
    else if (!isPending) onStart();
  }

  return (
    <>
      <WaitButton
        type="button"
        className="primary"
        retryAt={canMutate ? undefined : retryAt}
        isReady={!isPending}
        texts={[text]}
        onClick={press}
      >
        {text}
      </WaitButton>
      <p role="status" className="outcome">
        {line ??
          (isPaused ? (
            SENDS_LATER
          ) : isPending ? (
            <span className="late">The race is on…</span>
          ) : error ? (
            isRateLimitError(error) ? (
              "This race was denied: none was left."
            ) : (
              "This race did not finish. Start another one."
            )
          ) : (
            children
          ))}
      </p>
    </>
  );
}
