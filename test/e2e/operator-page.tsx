/** A page with a control room alone, and one with a customer's button. See `operator.test.ts`. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createTRPCClient, httpLink, httpSubscriptionLink, splitLink } from "@trpc/client";
import { createRoot } from "react-dom/client";
import { RateLimitAdmin } from "../../client/admin/index.js";
import { createRateLimitReact } from "../../client/react/index.js";
import type { OperatorRouter } from "./operator-app.js";

const client = createTRPCClient<OperatorRouter>({
  links: [
    splitLink({
      condition: ({ type }) => type === "subscription",
      true: httpSubscriptionLink({ url: "/trpc" }),
      false: httpLink({ url: "/trpc" }),
    }),
  ],
});
const { RateLimitProvider, useRateLimit } = createRateLimitReact<OperatorRouter>();

function Customer() {
  const { status, value } = useRateLimit("apiCalls");
  return <button disabled={!status?.ok}>{`Call (${value ?? "?"} left)`}</button>;
}

const isCustomer = location.pathname === "/customer";
createRoot(document.getElementById("root")!).render(
  isCustomer ? (
    <QueryClientProvider client={new QueryClient()}>
      <RateLimitProvider client={client}>
        <Customer />
      </RateLimitProvider>
    </QueryClientProvider>
  ) : (
    <RateLimitAdmin client={client} locale="en-GB" />
  ),
);
