/** How many accounts there are, and the latest ones. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { timeOf } from "../shared/page/pieces.js";
import { useRateLimit, useTRPC } from "../shared/page/trpc.js";

/** How often the list is read while the page knows of no sign-up, ms. */
const INTERVAL = 2000;

export function Accounts() {
  // Limit: the value is live, so a token that goes is a sign-up.
  const { value } = useRateLimit("signUp");
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { data, error } = useQuery(
    trpc.signUps.list.queryOptions(undefined, { refetchInterval: INTERVAL }),
  );

  useEffect(() => {
    void queryClient.invalidateQueries(trpc.signUps.list.queryFilter());
  }, [queryClient, trpc, value]);

  return (
    <div className="card accounts">
      <h2>
        {`${data ? data.count.toLocaleString("en") : "…"} ${data?.count === 1 ? "account" : "accounts"}`}
      </h2>
      <p className="quiet">
        {!error
          ? "The latest ten"
          : data
            ? "These were the latest ten."
            : "The list has not arrived yet."}
      </p>
      <ol aria-label="Latest accounts">
        {data?.count === 0 && <li className="quiet">No account yet.</li>}
        {data?.latest.map(({ id, name, createdAt }) => (
          <li key={id}>
            <span>{name}</span>
            <time dateTime={createdAt}>{timeOf(Date.parse(createdAt))}</time>
          </li>
        ))}
      </ol>
    </div>
  );
}
