import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { rateLimitRetry, rateLimitRetryDelay } from "trpc-rate-limit/client";
import { App } from "./app.js";
import "./styles.css";
import { client, RateLimitProvider, TRPCProvider } from "./trpc.js";

const queryClient = new QueryClient({
  // A denied query is retried when it can pass; every other query is retried as usual.
  defaultOptions: { queries: { retry: rateLimitRetry(), retryDelay: rateLimitRetryDelay } },
});

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <TRPCProvider trpcClient={client} queryClient={queryClient}>
        <RateLimitProvider client={client}>
          <App />
        </RateLimitProvider>
      </TRPCProvider>
    </QueryClientProvider>
  </StrictMode>,
);
