/** Fifty calls at once on ten tokens: what each limiter grants, now and in the runs before. */
import naiveCode from "code:./naive.ts";
import type { inferRouterOutputs } from "@trpc/server";
import { useState } from "react";
import { CodeLines } from "../shared/page/code-lines.js";
import { OutcomeLegend } from "../shared/page/outcomes.js";
import { useRateLimitedMutation, useTRPC } from "../shared/page/trpc.js";
import type { AppRouter } from "../shared/server/router.js";
import { ALLOWED, CALLS } from "../shared/race-size.js";
import { StartButton } from "./start-button.js";

type Race = inferRouterOutputs<AppRouter>["race"]["run"];
type Tick = "same" | "each";

/** How many runs are listed. */
const SHOWN = 5;
const TICKS = [
  { id: "same", title: "In one tick", about: "like one tRPC batch" },
  { id: "each", title: "A tick each", about: "like many requests" },
] as const;

export function Calls() {
  const trpc = useTRPC();
  const [tick, setTick] = useState<Tick>("same");
  const [runs, setRuns] = useState<readonly { race: Race; tick: Tick }[]>([]);
  // Limit: a race is work for the server. The button counts down to the next one.
  const run = useRateLimitedMutation(
    "runRace",
    trpc.race.run.mutationOptions({
      onSuccess: (race, input) => setRuns((known) => [...known, { race, tick: input.tick }]),
    }),
  );
  // The race before is shown until the new one is over.
  const race = runs.at(-1)?.race;

  return (
    <section className="card" aria-labelledby="calls-title">
      <h2 id="calls-title">Fifty calls at once</h2>
      <p className="quiet">
        {`Two processes make ${CALLS} calls each, in the same moment: first of a limiter that reads, ` +
          `compares and writes, then of this package. Both allow ${ALLOWED}.`}
      </p>
      <form
        onSubmit={(event) => event.preventDefault()}
        className="start"
        aria-label="Fifty calls at once"
      >
        <fieldset className="choice">
          <legend>The calls of a process start</legend>
          {TICKS.map(({ id, title, about }) => (
            <label key={id}>
              <input type="radio" name="tick" checked={tick === id} onChange={() => setTick(id)} />
              <span>
                {title}
                <small>{about}</small>
              </span>
            </label>
          ))}
        </fieldset>
        <StartButton text="Make 50 calls" race={run} onStart={() => run.mutate({ tick })}>
          {race && summaryOf(race)}
        </StartButton>
      </form>
      <div className="racers">
        <Racer title="Read, compare, write" result={race?.naive} />
        <Racer title="This package" result={race?.package} />
      </div>
      <OutcomeLegend />
      <Runs runs={runs} />
      <details>
        <summary>The code of the naive limiters</summary>
        <CodeLines lines={naiveCode.lines} label="The naive limiters" />
      </details>
    </section>
  );
}

function summaryOf({ naive, package: own }: Race): string {
  const isLucky = naive.granted <= ALLOWED;
  const verdict = `granted ${naive.granted} calls${isLucky ? ", this time" : ""}`;
  return `The limit is ${ALLOWED}. The naive limiter ${verdict}. This package granted ${own.granted}.`;
}

function Racer({ title, result }: { title: string; result: Race["naive"] | undefined }) {
  const over = result ? result.granted - ALLOWED : 0;
  return (
    <section className="racer" aria-label={title}>
      <h3>{title}</h3>
      <p className="granted">
        <b>{result ? `${result.granted} granted` : "\u00a0"}</b> <span>{`limit ${ALLOWED}`}</span>
      </p>
      <p className="verdict" data-bad={over > 0}>
        {result && (over > 0 ? `${over} too many` : over < 0 ? `${-over} too few` : "exactly 10")}
      </p>
      {[0, 1].map((i) => (
        <Dots key={i} process={result?.processes[i]} />
      ))}
      <dl>
        <dt>Its row says</dt>
        <dd>{result ? `${result.taken} of ${ALLOWED} taken` : "–"}</dd>
        <dt>Time</dt>
        <dd>{result ? `${result.ms.toFixed(result.ms < 10 ? 1 : 0)} ms` : "–"}</dd>
      </dl>
    </section>
  );
}

const NAMES = {
  granted: "granted",
  over: "granted beyond the limit",
  denied: "denied",
  failed: "failed",
};

/** The calls of one process, in the order in which they started. */
function Dots({ process }: { process: Race["naive"]["processes"][number] | undefined }) {
  const outcomes = process?.outcomes ?? Array.from({ length: CALLS }, () => undefined);
  const counts = Object.entries(NAMES).flatMap(([outcome, name]) => {
    const count = outcomes.filter((each) => each === outcome).length;
    return count > 0 ? `${count} ${name}` : [];
  });
  return (
    <div className="dots">
      <p className="quiet">{process ? `Process ${process.pid}` : "A process"}</p>
      <div role="img" aria-label={process ? counts.join(", ") : "No call yet"}>
        {[...outcomes.entries()].map(([i, outcome]) => (
          <i key={i} data-outcome={outcome ?? ""} />
        ))}
      </div>
    </div>
  );
}

/** The latest runs. The naive limiter does not always grant as many. */
function Runs({ runs }: { runs: readonly { race: Race; tick: Tick }[] }) {
  const latest = runs.map((run, i) => ({ ...run, number: i + 1 })).slice(-SHOWN);
  return (
    <table className="runs">
      <caption>Granted in each run, of 10 allowed</caption>
      <thead>
        <tr>
          <th scope="col">Run</th>
          <th scope="col">Calls start</th>
          <th scope="col">Naive</th>
          <th scope="col">This package</th>
        </tr>
      </thead>
      <tbody>
        {Array.from({ length: SHOWN }, (_, i) => {
          const run = latest[i];
          return (
            <tr key={i}>
              <th scope="row">{run?.number ?? i + 1}</th>
              <td>{TICKS.find(({ id }) => id === run?.tick)?.title.toLowerCase() ?? "–"}</td>
              <td data-bad={run && run.race.naive.granted > ALLOWED}>
                {run?.race.naive.granted ?? "–"}
              </td>
              <td>{run?.race.package.granted ?? "–"}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
