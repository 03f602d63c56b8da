/** The counts of each of the server's processes. */
import { useQuery } from "@tanstack/react-query";
import type { inferRouterOutputs } from "@trpc/server";
import { useTRPC } from "../shared/page/trpc.js";
import type { AppRouter } from "../shared/server/router.js";

type Counted = inferRouterOutputs<AppRouter>["behind"]["processes"]["all"][number];

export function useProcesses() {
  return useQuery(useTRPC().behind.processes.queryOptions(undefined, { refetchInterval: 1000 }));
}

export function Processes({ processes }: { processes: ReturnType<typeof useProcesses> }) {
  const { data, isError, failureCount } = processes;
  const isLost = isError || failureCount > 0;
  return (
    <section className="card processes" aria-labelledby="processes-title">
      <h2 id="processes-title">The server’s processes</h2>
      <p className="quiet">
        Each process counts its own calls since it started. The rows are the same for all of them.
      </p>
      <div className="each">
        {data?.all.map((each) => (
          <Process key={each.process} {...each} />
        ))}
      </div>
      <p className="quiet answered">
        {data
          ? isLost
            ? "These were the last counts."
            : `The last answer came from process ${data.process}.`
          : "Waiting for the first answer."}
      </p>
    </section>
  );
}

function Process({ process, batches, callsPerBatch, conflicts, decisions }: Counted) {
  return (
    <section aria-labelledby={`process-${process}`}>
      <h3 id={`process-${process}`}>{`Process ${process}`}</h3>
      <dl>
        <dt>Batches</dt>
        <dd>{batches}</dd>
        <dt>Calls per batch</dt>
        <dd>{callsPerBatch === undefined ? "none yet" : callsPerBatch.toFixed(2)}</dd>
        <dt>Conflicts</dt>
        <dd>{conflicts}</dd>
      </dl>
      <table>
        <thead>
          <tr>
            <th scope="col">Limit</th>
            <th scope="col">Granted</th>
            <th scope="col">Denied</th>
          </tr>
        </thead>
        <tbody>
          {decisions.map(({ name, granted, denied }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{granted}</td>
              <td>{denied}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
