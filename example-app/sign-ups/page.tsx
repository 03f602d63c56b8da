/** A fixed window that all visitors share: a hundred accounts in five minutes. */
import code from "code:./minimal.tsx";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { Part, Stable } from "../shared/page/pieces.js";
import { RateLimitMeter, useRateLimit, useTRPC, useTRPCClient } from "../shared/page/trpc.js";
import { SENDS_LATER } from "../shared/page/use-connection.js";
import { useNotYet, WaitButton } from "../shared/page/wait-button.js";
import { Accounts } from "./accounts.js";
import { describe, oneTooMany, outcomeOf, WIDEST } from "./outcome.js";
import "./page.css";
import { WindowClock } from "./window-clock.js";

export default function SignUps() {
  return (
    <Part
      title="Sign-ups"
      code={code}
      lead="All visitors together may open a hundred accounts in five minutes. Then the next window starts, for everyone in the same second."
    >
      <div className="sign-ups">
        <div className="card">
          <WindowClock />
          <SignUpForm />
        </div>
        <Accounts />
      </div>
    </Part>
  );
}

/** Signs up one account, or all that the window has left and one more. */
function SignUpForm() {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  // Limit: what is left for all visitors, live. `check` knows the server's time.
  const { status, value, config, check } = useRateLimit("signUp");
  const [name, setName] = useState("");
  const signUp = useMutation({
    // The calls of one tick travel in one request. Each of them gets an answer of its own.
    mutationFn: async (names: readonly string[]) => {
      const answers = await Promise.allSettled(
        names.map((each) => client.signUps.create.mutate({ name: each })),
      );
      const now = Date.now();
      // The server's time minus this machine's. A prediction contains the server's time.
      const offset = (check(now, 0)?.now ?? now) - now;
      return outcomeOf(answers, offset);
    },
    // Clear only the name that was used: the visitor may have typed more meanwhile.
    onSuccess: ({ made }, [used]) => {
      if (made.length > 0) setName((typed) => (typed === used ? "" : typed));
    },
    onSettled: () => queryClient.invalidateQueries(trpc.signUps.list.queryFilter()),
  });
  const isReady = !signUp.isPending && value !== undefined;
  // Limit: no account is left before the next window.
  const isWaiting = status?.ok === false;
  const { line: notYet, sayNotYet } = useNotYet(status?.retryAt);

  // The buttons are never really disabled, so they keep the focus.
  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (isWaiting) sayNotYet();
    else if (isReady) signUp.mutate([name]);
  }
  function signUpTheRest() {
    if (isReady) signUp.mutate(Array.from({ length: value + 1 }, () => ""));
  }

  return (
    <form onSubmit={submit}>
      <div>
        <p className="left">
          <b>{value ?? "…"}</b>
          <span>{` of ${config?.rate ?? "…"} accounts left`}</span>
        </p>
        <RateLimitMeter name="signUp" label="Accounts left" className="meter" />
      </div>
      <label>
        Name of the account (optional)
        <input
          value={name}
          maxLength={40}
          autoComplete="off"
          onChange={({ target }) => setName(target.value)}
        />
      </label>
      <div className="buttons">
        <WaitButton
          className="primary"
          retryAt={status?.retryAt}
          isReady={isReady}
          texts={["Wait 4m 59s"]}
        >
          Sign up
        </WaitButton>
        <button
          type="button"
          aria-disabled={!isReady}
          aria-describedby="one-more"
          onClick={signUpTheRest}
        >
          <Stable shown={oneTooMany(value)} texts={[WIDEST]} />
        </button>
      </div>
      <p id="one-more" className="quiet">
        The 101st is denied. It gets no account, and it is told when the next window starts. The
        hundred before it keep theirs.
      </p>
      <p role="status" className="outcome">
        <span>
          {signUp.isPaused
            ? SENDS_LATER
            : signUp.isPending
              ? "Signing up…"
              : signUp.data && describe(signUp.data)}
        </span>
        {notYet && <span> </span>}
        {notYet}
      </p>
    </form>
  );
}
