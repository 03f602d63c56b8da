/** Signs up one account, or all that the window has left and one more. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { isRateLimitError } from "trpc-rate-limit/react";
import { Stable } from "./stable.js";
import { timeOf } from "./time-of.js";
import { RateLimitMeter, useRateLimit, useTRPC, useTRPCClient } from "./trpc.js";

interface Outcome {
  made: string[];
  denied: number;
  /** When denied calls pass: epoch ms on this machine's clock. */
  retryAt: number;
  failed: number;
}

export function SignUpForm() {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const [name, setName] = useState("");
  const { value, config, check } = useRateLimit("signUp");
  const signUp = useMutation({
    // The calls of one tick travel in one request. Each of them gets an answer of its own.
    mutationFn: async (names: readonly string[]) => {
      const answers = await Promise.allSettled(
        names.map((each) => client.signUps.create.mutate({ name: each })),
      );
      const now = Date.now();
      // Server time minus this machine's. A prediction comes with the server's time.
      const offset = (check(now, 0)?.now ?? now) - now;
      return outcomeOf(answers, offset);
    },
    // Clear only what was used: the visitor may have typed more meanwhile.
    onSuccess: ({ made }, [used]) => {
      if (made.length > 0) setName((typed) => (typed === used ? "" : typed));
    },
    onSettled: () => queryClient.invalidateQueries(trpc.signUps.list.queryFilter()),
  });
  const isReady = !signUp.isPending && value !== undefined;

  // The buttons are never really disabled, so they keep the focus.
  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (isReady) signUp.mutate([name]);
  }
  function signUpTheRest() {
    if (isReady) signUp.mutate(Array.from({ length: value + 1 }, () => ""));
  }

  return (
    <form onSubmit={submit}>
      <div>
        <p className="left">
          <b>{value ?? "…"}</b> of {config?.rate ?? "…"} accounts left
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
        <button className="primary" aria-disabled={!isReady}>
          Sign up
        </button>
        <button
          type="button"
          aria-disabled={!isReady}
          aria-describedby="one-more"
          onClick={signUpTheRest}
        >
          <Stable
            shown={`All ${value ?? "…"} left, and one more`}
            texts={["All 100 left, and one more"]}
          />
        </button>
      </div>
      <p id="one-more" className="quiet">
        The 101st is denied. It gets no account, and it is told when the next window starts. The
        hundred before it keep theirs.
      </p>
      <p role="status" className="outcome">
        {signUp.isPending ? "Signing up…" : signUp.data && describe(signUp.data)}
      </p>
    </form>
  );
}

function outcomeOf(
  answers: readonly PromiseSettledResult<{ name: string }>[],
  offset: number,
): Outcome {
  const made = answers.flatMap((answer) =>
    answer.status === "fulfilled" ? answer.value.name : [],
  );
  const errors: unknown[] = answers.flatMap((answer) =>
    answer.status === "rejected" ? [answer.reason] : [],
  );
  const denials = errors.filter((error) => isRateLimitError(error));
  return {
    made,
    denied: denials.length,
    retryAt: Math.max(
      0,
      ...denials.map(({ data: { rateLimit } }) => rateLimit.now + rateLimit.retryAfter - offset),
    ),
    failed: errors.length - denials.length,
  };
}

function describe({ made, denied, retryAt, failed }: Outcome): string {
  const texts: string[] = [];
  if (made.length === 1) texts.push(`“${made[0]}” is signed up.`);
  if (made.length > 1) texts.push(`${made.length} accounts are signed up.`);
  if (denied > 0) {
    const who = denied === 1 ? "One more was" : `${denied} more were`;
    texts.push(`${made.length === 0 ? "The sign-up was" : who} denied until ${timeOf(retryAt)}.`);
  }
  if (failed > 0) texts.push(`${failed} failed: the server did not answer, or could not save it.`);
  return texts.join(" ");
}
