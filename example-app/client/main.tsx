import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { rateLimitRetry, rateLimitRetryDelay } from "trpc-rate-limit/client";
import { Composer } from "./composer.js";
import { Messages } from "./messages.js";
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
          <main>
            <header>
              <h1>Rate-limited chat</h1>
              <p>Three messages at once, then one every six seconds.</p>
            </header>
            <Messages />
            <Composer />
          </main>
        </RateLimitProvider>
      </TRPCProvider>
    </QueryClientProvider>
  </StrictMode>,
);
