/** A log-in whose failures cost tokens. The page shows what is left, and the wait, before the next try. */
import code from "code:./minimal.tsx";
import { type ReactNode, type SubmitEvent, useRef, useState } from "react";
import { isRateLimitError, type UseRateLimitResult } from "trpc-rate-limit/react";
import { Part } from "../shared/page/pieces.js";
import { useRateLimitedMutation, useTRPC } from "../shared/page/trpc.js";
import { SENDS_LATER } from "../shared/page/use-connection.js";
import { useNotYet, WaitButton } from "../shared/page/wait-button.js";
import "./page.css";

const ACCOUNT = "demo";

function useLogIn(onSuccess: () => void) {
  const trpc = useTRPC();
  // Limit: a failure costs here, too. The visitor may send although no attempt is left.
  return useRateLimitedMutation("logIn", {
    ...trpc.logIn.attempt.mutationOptions({ onSuccess }),
    // The server makes the key of the bucket from this account and the visitor.
    key: ACCOUNT,
    on: "error",
    whenLimited: "send",
  });
}

export default function LogIn() {
  const [password, setPassword] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const logIn = useLogIn(() => setPassword(""));
  const { canMutate, retryAt, isPending, isSuccess, limit } = logIn;
  // Limit: the server says until when an account is closed, also after a reload. Right after a denial,
  // the page knows only the wait, and stores the wait as a value below 0.
  const { closedUntil, value = 0 } = limit.check(undefined, 0) ?? {};
  const isClosed = !canMutate && (closedUntil !== undefined || value < 0);
  const isEmpty = password === "";
  const isWaiting = !isSuccess && !canMutate;
  const { line: notYet, sayNotYet } = useNotYet(isWaiting ? retryAt : undefined);

  function attempt() {
    if (isPending || isEmpty) return;
    logIn.mutate({ account: ACCOUNT, password });
    // The button may be disabled soon, and a disabled button loses the focus.
    field.current?.focus();
  }

  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (isSuccess) logIn.reset();
    else if (canMutate) attempt();
    else sayNotYet();
  }

  return (
    <Part
      title="Log in"
      code={code}
      lead="Only a wrong password costs an attempt, and one comes back every 12 seconds. Trying without one closes the account for another half minute, and for longer each time."
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
            <WaitButton
              type="submit"
              className="primary"
              retryAt={isWaiting ? retryAt : undefined}
              isWaiting={isWaiting}
              isReady={isSuccess || !isEmpty}
              texts={["Log out"]}
            >
              {isSuccess ? "Log out" : "Log in"}
            </WaitButton>
            <button type="button" disabled={canMutate || isClosed || isEmpty} onClick={attempt}>
              Try anyway
            </button>
          </div>
          <p className="news" role="status">
            <span>{newsOf(logIn, isClosed)}</span>
            {notYet && <span> </span>}
            {notYet}
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
      {value !== undefined && <span>{`${value} of ${most} attempts left`}</span>}
    </p>
  );
}

function newsOf(
  { canMutate, isPending, isPaused, isSuccess, error }: ReturnType<typeof useLogIn>,
  isClosed: boolean,
): ReactNode {
  if (isPaused) return SENDS_LATER;
  if (isPending) return <span className="late">Checking the password…</span>;
  if (isSuccess) return "You are logged in. The failed attempts are forgotten.";
  if (isClosed) {
    return isRateLimitError(error)
      ? "That was one too many. The account is closed, even to the right password."
      : "The account is closed, even to the right password.";
  }
  if (!canMutate)
    return "No attempt is left until one comes back. Trying anyway closes the account.";
  if (!error || isRateLimitError(error)) return null;
  if (!error.data) return "The server did not answer. Try again.";
  return error.data.code === "UNAUTHORIZED"
    ? "This password is wrong."
    : "The server could not check the password. Try again.";
}
