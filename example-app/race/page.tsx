/** Two races of this package with limiters that people write: one over tokens, one over a failure. */
import code from "code:./minimal.tsx";
import { useQuery } from "@tanstack/react-query";
import { Part } from "../shared/page/pieces.js";
import { RateLimitMeter, useRateLimit, useTRPC } from "../shared/page/trpc.js";
import { Calls } from "./calls.js";
import { Orders } from "./orders.js";
import "../shared/page/choice.css";
import "./page.css";

/** See far.ts. */
const NEAR =
  " SQLite answers inside of the process. So each statement waits 1 ms first, as on the way to a server.";

export default function Race() {
  // The server starts its two processes now, so that the first race need not wait for them.
  const { data } = useQuery(useTRPC().race.processes.queryOptions());
  return (
    <Part
      title="The race"
      code={code}
      lead="Read a row, compare, write it back: many limiters do that. Let one run beside this package, and count what each grants."
    >
      <div className="race">
        <p className="quiet">
          {data
            ? `Every race really runs on ${data.database}, in the processes ${data.pids.join(" and ")} of this server.${data.database === "SQLite" ? NEAR : ""}`
            : "Every race really runs on the demo’s database. The server starts two processes for it…"}
        </p>
        <RacesLeft />
        <Calls />
        <Orders />
      </div>
    </Part>
  );
}

function RacesLeft() {
  // Limit: how many races this visitor may start now.
  const { value, config } = useRateLimit("runRace");
  return (
    <div className="races quiet">
      <p>{`${value ?? "…"} of ${config?.capacity ?? "…"} races left`}</p>
      <RateLimitMeter name="runRace" label="Races left" className="meter" />
    </div>
  );
}
