/**
 * Fifty calls on a limit of ten, when the visitor arrives: once through ten lines of one's own, and once
 * through this package.
 */
import { useQuery } from "@tanstack/react-query";
import type { inferRouterOutputs } from "@trpc/server";
import { type ReactNode, useMemo, useState } from "react";
import { sourceOf } from "../shared/page/code.js";
import { OutcomeLegend } from "../shared/page/outcomes.js";
import { useRateLimitedMutation, useTRPC } from "../shared/page/trpc.js";
import { SENDS_LATER } from "../shared/page/use-connection.js";
import { useNotYet, WaitButton } from "../shared/page/wait-button.js";
import { ALLOWED as LIMIT, CALLS as CALLS_OF_PROCESS } from "../shared/race-size.js";
import type { AppRouter } from "../shared/server/router.js";
import { useReplay } from "./use-replay.js";

type Race = inferRouterOutputs<AppRouter>["race"]["arrival"];
type Result = Race["naive"];

/** As the title says: two processes call. */
const CALLS = 2 * CALLS_OF_PROCESS;
/** See race/far.ts. */
const FAR = "On SQLite, each statement takes 1 ms more, as over a network.";
/** See site/app/races.ts. */
const IN_MEMORY =
  "Two callers in a web worker of this browser. The tables of both sides answer a moment later, as a database does.";

export function ArrivalRace() {
  const trpc = useTRPC();
  // The server makes a race for all who arrive in the same seconds.
  const arrival = useQuery(trpc.race.arrival.queryOptions(undefined, { staleTime: Infinity }));
  // Limit: another race is work for the server. The button counts down to the next one.
  const [own, setOwn] = useState<Race>();
  const again = useRateLimitedMutation(
    "runRace",
    trpc.race.run.mutationOptions({ onSuccess: (result) => setOwn(result) }),
  );
  // The race before is shown until the new one is over.
  const before = useQuery(trpc.race.last.queryOptions(undefined, { staleTime: Infinity }));
  const race = own ?? arrival.data ?? before.data ?? undefined;
  const failed = again.isError || (arrival.isError && !own);
  const retryAt = again.canMutate ? undefined : again.retryAt;
  const { line, sayNotYet } = useNotYet(retryAt);
  const isRunning = again.isPending || (arrival.isPending && !own);
  const isReady = !isRunning || failed;
  const said =
    line ??
    (again.isPaused ? SENDS_LATER : undefined) ??
    (failed ? "This race did not finish. Run another one." : undefined);
  const isOld = race !== undefined && race === before.data;
  const naive = useReplay(
    useMemo(() => race && inOrder(race.naive), [race]),
    isOld,
  );
  const ours = useReplay(
    useMemo(() => race && inOrder(race.package), [race]),
    isOld,
  );
  const code = sourceOf("example-app/race/naive.ts");

  function press() {
    if (!again.canMutate) sayNotYet();
    else if (isReady) again.mutate({ tick: "same" });
  }

  return (
    <section className="card arrival" aria-labelledby="arrival-title">
      <h2 id="arrival-title">Fifty calls at once. The limit is 10.</h2>
      <div className="sides">
        <Side title="Your own ten lines" result={race?.naive} seen={naive}>
          {code === undefined ? "Read, compare, write" : <a href={code}>Read, compare, write</a>}
        </Side>
        <Side title="This package" result={race?.package} seen={ours}>
          <code>
            limiter.limit
            <wbr />
            ("race")
          </code>
        </Side>
      </div>
      <OutcomeLegend />
      <div className="again">
        <WaitButton
          type="button"
          retryAt={retryAt}
          isReady={isReady}
          texts={["Run again"]}
          onClick={press}
        >
          Run again
        </WaitButton>
        {/* The result of the two sides, in one sentence for screen readers. */}
        <p role="status" className={said === undefined ? "hidden" : undefined}>
          {said ?? (race && !isRunning && naive.length === CALLS && summaryOf(race))}
        </p>
        {said === undefined &&
          (isRunning || !race ? (
            <p className="quiet late">
              {race
                ? "An earlier race. The next one is on its way…"
                : "The calls are on their way…"}
            </p>
          ) : (
            <p className="quiet">{placeOf(race)}</p>
          ))}
      </div>
    </section>
  );
}

function placeOf({ naive: { processes }, database }: Race): string {
  const [one, two] = processes.map(({ pid }) => pid);
  if (database === undefined) return IN_MEMORY;
  const calls = `The processes ${one} and ${two} of this server made ${CALLS_OF_PROCESS} calls each`;
  return database === "SQLite" ? `${calls}. ${FAR}` : `${calls}, on ${database}.`;
}

function summaryOf({ naive, package: own }: Race): string {
  return `The limit is ${LIMIT}. The ten lines granted ${naive.granted} calls, this package ${own.granted}.`;
}

/** @param seen the answers that are shown, in the order in which they came. */
function Side({
  title,
  result,
  seen,
  children,
}: {
  title: string;
  result: Result | undefined;
  seen: readonly string[];
  children: ReactNode;
}) {
  const countOf = (...outcomes: readonly string[]) =>
    seen.filter((outcome) => outcomes.includes(outcome)).length;
  const granted = countOf("granted", "over");
  const isOver = seen.length === CALLS;
  return (
    <section className="side" aria-label={title}>
      <h3>{title}</h3>
      <p className="how">{children}</p>
      <div
        className="dots"
        role="img"
        aria-label={isOver ? countsOf(granted, countOf("denied")) : "No result yet"}
      >
        {Array.from({ length: CALLS }, (_, i) => (
          <i key={i} data-outcome={seen[i] ?? ""} />
        ))}
      </div>
      <p className="granted" data-bad={granted > LIMIT} data-exact={isOver && granted === LIMIT}>
        <b>{result ? `${granted} granted` : "\u00a0"}</b> <span>{`limit ${LIMIT}`}</span>
      </p>
      <p className="verdict" data-bad={granted !== LIMIT}>
        {result && isOver && verdictOf(granted)}
      </p>
    </section>
  );
}

function inOrder({ processes }: Result) {
  return processes
    .flatMap(({ outcomes, after }) => outcomes.map((outcome, i) => ({ outcome, at: after[i]! })))
    .sort((a, b) => a.at - b.at)
    .map(({ outcome }) => outcome);
}

/** For screen readers: what the dots show. */
function countsOf(granted: number, denied: number): string {
  const over = granted - LIMIT;
  return over > 0
    ? `${LIMIT} granted, ${over} granted beyond the limit, ${denied} denied`
    : `${granted} granted, ${denied} denied`;
}

function verdictOf(granted: number): string {
  if (granted === LIMIT) return "Exactly the limit";
  return granted > LIMIT ? `${granted - LIMIT} too many` : `${LIMIT - granted} too few`;
}
