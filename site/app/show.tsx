/** Shows a part of the demo, with the providers that the demo's own page has. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { rateLimitRetry, rateLimitRetryDelay } from "trpc-rate-limit/client";
import { client, RateLimitProvider, TRPCProvider } from "../../example-app/shared/page/trpc.js";
import "trpc-rate-limit/styles.css";
import "../../example-app/shared/page/styles.css";
import "./site.css";

export function show(part: ReactNode): void {
  const queryClient = new QueryClient({
    // The server is in the page, so it answers a visitor who is offline, too.
    defaultOptions: {
      queries: {
        networkMode: "always",
        retry: rateLimitRetry(),
        retryDelay: rateLimitRetryDelay,
      },
      mutations: { networkMode: "always" },
    },
  });
  createRoot(document.getElementById("root")!).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <TRPCProvider trpcClient={client} queryClient={queryClient}>
          {/* Without a caller, no tab shares its stream: a worker answers each tab through its own port. */}
          <RateLimitProvider client={client}>{part}</RateLimitProvider>
        </TRPCProvider>
      </QueryClientProvider>
    </StrictMode>,
  );
}
