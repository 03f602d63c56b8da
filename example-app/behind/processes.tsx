/** What each of the server's processes has counted. Each question goes to the next process. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { inferRouterOutputs } from "@trpc/server";
import { useTRPCClient } from "../shared/page/trpc.js";
import type { AppRouter } from "../shared/server/router.js";

type Answer = inferRouterOutputs<AppRouter>["behind"]["process"] & { at: number };

/** A process that has not answered for so long is gone, ms. Each one is asked in its turn. */
const FORGOTTEN = 30_000;

interface Answers {
  last: Answer;
  /** The last answer of each process, in their order. */
  all: Answer[];
}

const KEY = ["behind", "processes"] as const;

export function useProcesses() {
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  return useQuery({
    queryKey: KEY,
    queryFn: async ({ signal }): Promise<Answers> => {
      const answer = await client.behind.process.query(undefined, { signal });
      const last = { ...answer, at: Date.now() };
      const known = queryClient.getQueryData<Answers>(KEY)?.all ?? [];
      const others = known.filter(
        ({ process, at }) => process !== last.process && last.at - at < FORGOTTEN,
      );
      return { last, all: [...others, last].sort((a, b) => a.process - b.process) };
    },
    refetchInterval: 1000,
  });
}

export function Processes({ processes }: { processes: ReturnType<typeof useProcesses> }) {
  const { data, isError, failureCount } = processes;
  const isLost = isError || failureCount > 0;
  return (
    <section className="card processes" aria-labelledby="processes-title">
      <h2 id="processes-title">The server’s processes</h2>
      <p className="quiet">
        Each process counts its own calls since it started, and knows of no other. The rows are the
        same for all of them.
      </p>
      <div className="each">
        {data?.all.map((answer) => (
          <Process key={answer.process} {...answer} />
        ))}
      </div>
      <p className="quiet answered">
        {data
          ? isLost
            ? "The server does not answer. These were the last counts."
            : `The last answer came from process ${data.last.process}.`
          : isLost
            ? "The server does not answer."
            : "Waiting for the first answer."}
      </p>
    </section>
  );
}

function Process({ process, batches, callsPerBatch, conflicts, decisions }: Answer) {
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
