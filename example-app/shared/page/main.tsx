/// <reference types="vite/client" />
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { rateLimitRetry, rateLimitRetryDelay } from "trpc-rate-limit/client";
import { App } from "./app.js";
import "./styles.css";
import { client, RateLimitProvider, TRPCProvider } from "./trpc.js";

const queryClient = new QueryClient({
  // Limit: a denied query is retried when it can pass; every other query is retried as usual.
  defaultOptions: { queries: { retry: rateLimitRetry(), retryDelay: rateLimitRetryDelay } },
});

/** Vite replaces the condition, so a production build has nothing of the devtools. */
const Devtools = import.meta.env.DEV ? lazy(() => import("./devtools.js")) : () => null;

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <TRPCProvider trpcClient={client} queryClient={queryClient}>
        {/* Limit: a cookie says who the visitor is, so all tabs of a browser have the same caller. */}
        <RateLimitProvider client={client} caller="visitor">
          <App />
          <Suspense>
            <Devtools />
          </Suspense>
        </RateLimitProvider>
      </TRPCProvider>
    </QueryClientProvider>
  </StrictMode>,
);
