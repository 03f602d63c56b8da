/** A page of prices with one button, whose limit depends on the plan of its visitor. See `upgrade.test.ts`. */
import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query";
import { createTRPCClient, httpLink, httpSubscriptionLink, splitLink } from "@trpc/client";
import { createRoot } from "react-dom/client";
import { createRateLimitReact, type LiveMode } from "../../client/react/index.js";
import type { UpgradeRouter } from "./upgrade-server.js";

const client = createTRPCClient<UpgradeRouter>({
  links: [
    splitLink({
      condition: ({ type }) => type === "subscription",
      true: httpSubscriptionLink({ url: "/trpc" }),
      false: httpLink({ url: "/trpc" }),
    }),
  ],
});
const { RateLimitProvider, useRateLimit, useRateLimitedMutation } =
  createRateLimitReact<UpgradeRouter>();

function Draw() {
  const draw = useRateLimitedMutation("pictures", { mutationFn: () => client.draw.mutate() });
  const { value, config } = draw.limit;
  return (
    <button disabled={!draw.canMutate} onClick={() => draw.mutate()}>
      {`Draw (${value} of ${config?.rate} left)`}
    </button>
  );
}

/** The terms of each plan, as the limiter itself reports them. */
function Prices() {
  const prices = useQuery({ queryKey: ["prices"], queryFn: () => client.prices.query() }).data;
  const { config } = useRateLimit("pictures");
  return (
    <ul>
      {Object.entries(prices ?? {}).map(([plan, { pictures }]) => (
        <li key={plan} aria-current={pictures.rate === config?.rate}>
          {`${plan}: ${pictures.rate} pictures a day`}
        </li>
      ))}
    </ul>
  );
}

const live = new URLSearchParams(location.search).get("live") as LiveMode;
createRoot(document.getElementById("root")!).render(
  <QueryClientProvider client={new QueryClient()}>
    <RateLimitProvider client={client} live={live}>
      <Prices />
      <Draw />
    </RateLimitProvider>
  </QueryClientProvider>,
);
