/** A log-in whose failures cost. The page shows what is left, and the wait, before the next try. */
import { type ReactNode, type SubmitEvent, useRef, useState } from "react";
import { isRateLimitError, type UseRateLimitResult } from "trpc-rate-limit/react";
import { Part, Stable } from "../shared/page/pieces.js";
import { RateLimitCountdown, useRateLimitedMutation, useTRPC } from "../shared/page/trpc.js";
import "./page.css";

const ACCOUNT = "demo";

function useLogIn(onSuccess: () => void) {
  const trpc = useTRPC();
  // Limit: a failure costs here, too. The visitor may send although no attempt is left.
  return useRateLimitedMutation("logIn", {
    ...trpc.logIn.attempt.mutationOptions({ onSuccess }),
    // The server makes the key of the bucket from it: this account, for this visitor.
    key: ACCOUNT,
    on: "error",
    whenLimited: "send",
  });
}

export default function LogIn() {
  const [password, setPassword] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const logIn = useLogIn(() => setPassword(""));
  const { canMutate, retryAt, isPending, isSuccess, error, limit } = logIn;
  const isClosed = !canMutate && isRateLimitError(error);
  const isEmpty = password === "";

  function attempt() {
    if (isPending || isEmpty) return;
    logIn.mutate({ account: ACCOUNT, password });
    // The button may be disabled soon, and would take the focus with it.
    field.current?.focus();
  }

  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (isSuccess) logIn.reset();
    else if (canMutate) attempt();
  }

  return (
    <Part
      title="Log in"
      lead="Only a wrong password costs an attempt, and one comes back every 12 seconds. Trying without one closes the account for half a minute on top."
    >
      <div className="log-in">
        <form className="card" onSubmit={submit}>
          <label>
            Account
            <input value={ACCOUNT} readOnly autoComplete="username" />
          </label>
          <label>
            Password
            <input
              ref={field}
              type="password"
              value={password}
              onChange={(event) => setPassword(event.target.value)}
              readOnly={isSuccess}
              autoComplete="current-password"
              autoFocus
              maxLength={200}
              aria-describedby="log-in-hint"
            />
          </label>
          <p id="log-in-hint" className="hint">
            The password is <code>open sesame</code>. Try a wrong one.
          </p>
          <Attempts limit={limit} />
          <div className="buttons">
            <button
              type="submit"
              className="primary"
              disabled={!isSuccess && (!canMutate || isEmpty)}
            >
              <Stable
                texts={["Log out", "Wait 30s"]}
                shown={
                  isSuccess ? (
                    "Log out"
                  ) : canMutate ? (
                    "Log in"
                  ) : (
                    <>
                      Wait <RateLimitCountdown retryAt={retryAt} />
                    </>
                  )
                }
              />
            </button>
            <button type="button" disabled={canMutate || isClosed || isEmpty} onClick={attempt}>
              Try anyway
            </button>
          </div>
          <p className="news" role="status">
            {newsOf(logIn)}
          </p>
        </form>
        <p className="cost">
          <b>What a closed account costs:</b> it is closed for its owner, too, so an attacker can
          lock them out by failing on purpose; close it for a short time, and leave another way in.
        </p>
      </div>
    </Part>
  );
}

/** The attempts that are left, as a row of dots and in words. */
function Attempts({ limit: { value, config } }: { limit: UseRateLimitResult }) {
  const most = config?.capacity ?? config?.rate ?? 5;
  return (
    <p className="attempts">
      <span aria-hidden="true">
        {Array.from({ length: most }, (_, i) => (
          <i key={i} data-left={i < (value ?? 0)} />
        ))}
      </span>
      {value !== undefined && `${value} of ${most} attempts left`}
    </p>
  );
}

function newsOf({
  canMutate,
  isPending,
  isSuccess,
  error,
}: ReturnType<typeof useLogIn>): ReactNode {
  if (isPending) return <span className="late">Checking the password…</span>;
  if (isSuccess) return "You are logged in. The failed attempts are forgotten.";
  if (!canMutate) {
    return isRateLimitError(error)
      ? "That was one too many. The account is closed, even to the right password."
      : "No attempt is left until one comes back. Trying anyway closes the account.";
  }
  if (!error || isRateLimitError(error)) return null;
  return error.data ? "This password is wrong." : "The server did not answer. Try again.";
}
