/** The rows of the limits, as the server reads them once a second. */
import { useSubscription } from "@trpc/tanstack-react-query";
import type { inferRouterOutputs } from "@trpc/server";
import { calculateRateLimit } from "trpc-rate-limit";
import { useTRPC } from "../shared/page/trpc.js";
import type { AppRouter } from "../shared/server/router.js";
import { formatAge } from "./format-age.js";

type Row =
  inferRouterOutputs<AppRouter>["behind"]["rows"] extends AsyncIterable<infer TRead>
    ? TRead extends { rows: (infer TRow)[] }
      ? TRow
      : never
    : never;

export function Rows() {
  const { data, status } = useSubscription(useTRPC().behind.rows.subscriptionOptions());
  const isFresh = data !== undefined && status === "pending";
  return (
    <section className="card rows" aria-labelledby="rows-title" data-fresh={isFresh}>
      <h2 id="rows-title">The table rate_limits</h2>
      <p role="status" className="quiet">
        {stateText(data?.process, isFresh)}
      </p>
      {data && data.rows.length > 0 && <Table rows={data.rows} />}
      {data?.rows.length === 0 && (
        <p>
          The table is empty: all buckets are full. <a href="#chat">Send a message</a> and come
          back.
        </p>
      )}
      {data?.hasMore && <p className="quiet">There are more rows than these.</p>}
    </section>
  );
}

function stateText(process: number | undefined, isFresh: boolean): string {
  if (isFresh) return `Process ${process} reads it once a second.`;
  return process === undefined ? "Waiting for the first read." : "This was the last read.";
}

function Table({ rows }: { rows: readonly Row[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Limit and key</th>
          <th scope="col">In the row</th>
          <th scope="col">Now</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id} data-mine={row.mine}>
            <th scope="row">
              {row.name}
              <small>{row.mine ? `${row.key}, you` : (row.key ?? "all visitors")}</small>
            </th>
            <td>
              <Written row={row} />
            </td>
            <td>
              <Now row={row} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The row's two numbers: the tokens used, and the instant of that count. Credits show their balance. */
function Written({ row }: { row: Row }) {
  const { value, ts, config, now, closedUntil = -Infinity } = row;
  const { used = (config.capacity ?? config.rate) - value } = row;
  const wait = closedUntil - now;
  if (wait > 0) {
    return (
      <>
        closed
        <small>{`for ${Math.ceil(wait / 1000)} s more`}</small>
      </>
    );
  }
  return (
    <>
      <span>
        {config.kind === "credits"
          ? `${formatTokens(value)} left`
          : `${formatTokens(Math.abs(used))} ${used < 0 ? "owed" : "used"}`}
      </span>
      <small>{formatAge(now - ts)}</small>
    </>
  );
}

/** The tokens of the row at the instant of the read: what was written, and what has been refilled since. */
function Now({ row: { value, ts, used, config, now } }: { row: Row }) {
  const held = calculateRateLimit({ value, ts, used }, config, now).value;
  const capacity = config.capacity ?? config.rate;
  const part = Math.min(1, Math.max(0, held / capacity));
  return (
    <>
      <span className="figures">{`${formatTokens(held)} of ${capacity.toLocaleString("en")}`}</span>
      <span className="held" aria-hidden="true">
        <span style={{ width: `${part * 100}%` }} />
      </span>
    </>
  );
}

/** Below 1000 tokens, a tenth of a token is shown. */
function formatTokens(value: number): string {
  const digits = Math.abs(value) < 1000 ? 1 : 0;
  const unit = 10 ** digits;
  return (Math.floor(value * unit + 1e-6) / unit).toLocaleString("en", {
    minimumFractionDigits: digits,
  });
}
