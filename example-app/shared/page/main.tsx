/// <reference types="vite/client" />
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { rateLimitRetry, rateLimitRetryDelay } from "trpc-rate-limit/client";
import { KeptOutbox } from "../../chat/kept-outbox.js";
import { KeptPrompts } from "../../model/kept-prompts.js";
import { App } from "./app.js";
import { LateDevtools } from "./late-devtools.js";
import { CALLER, IS_FRAME } from "./seat.js";
import "trpc-rate-limit/styles.css";
import "./styles.css";
import { client, RateLimitProvider, TRPCProvider } from "./trpc.js";

const queryClient = new QueryClient({
  // Limit: a denied query is retried when it can pass; every other query is retried as usual.
  defaultOptions: { queries: { retry: rateLimitRetry(), retryDelay: rateLimitRetryDelay } },
});

const Frame = lazy(() => import("./frame.js"));

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <TRPCProvider trpcClient={client} queryClient={queryClient}>
        {/* Limit: a cookie says who the visitor is, so all tabs of a browser have the same caller. */}
        <RateLimitProvider client={client} caller={CALLER}>
          {/* The outbox and the prompts go on while another part is shown. */}
          <KeptOutbox>
            <KeptPrompts>
              {IS_FRAME ? (
                <Suspense>
                  <Frame />
                </Suspense>
              ) : (
                <App />
              )}
            </KeptPrompts>
          </KeptOutbox>
          {!IS_FRAME && <LateDevtools />}
        </RateLimitProvider>
      </TRPCProvider>
    </QueryClientProvider>
  </StrictMode>,
);
