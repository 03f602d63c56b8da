/** A page with one button, whose limit depends on the plan of its visitor. See `upgrade.test.ts`. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
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
const { RateLimitProvider, useRateLimitedMutation } = createRateLimitReact<UpgradeRouter>();

function Draw() {
  const draw = useRateLimitedMutation("pictures", { mutationFn: () => client.draw.mutate() });
  const { value, config } = draw.limit;
  return (
    <button disabled={!draw.canMutate} onClick={() => draw.mutate()}>
      {`Draw (${value} of ${config?.rate} left)`}
    </button>
  );
}

const live = new URLSearchParams(location.search).get("live") as LiveMode;
createRoot(document.getElementById("root")!).render(
  <QueryClientProvider client={new QueryClient()}>
    <RateLimitProvider client={client} live={live}>
      <Draw />
    </RateLimitProvider>
  </QueryClientProvider>,
);
