"use client";

import { QueryClientProvider } from "@tanstack/react-query";
import { httpBatchStreamLink } from "@trpc/client";
import { useState } from "react";
import SuperJSON from "superjson";
import { rateLimitLink } from "trpc-rate-limit/client";

import { type AppRouter } from "~/server/api/root";
import { RateLimitProvider } from "~/trpc/rate-limit";
import { api, getBaseUrl, getQueryClient } from "~/trpc/react";

/** A client without a link for subscriptions, for what is below it. */
export function WithoutStream(props: { live: "stream" | "off"; children: React.ReactNode }) {
  const queryClient = getQueryClient();

  const [trpcClient] = useState(() =>
    api.createClient({
      links: [
        rateLimitLink<AppRouter>({ limits: { "post.create": "createPost" } }),
        httpBatchStreamLink({ transformer: SuperJSON, url: getBaseUrl() + "/api/trpc" }),
      ],
    }),
  );

  return (
    <QueryClientProvider client={queryClient}>
      <api.Provider client={trpcClient} queryClient={queryClient}>
        <RateLimitProvider client={trpcClient} live={props.live} pollInterval={1_000}>
          {props.children}
        </RateLimitProvider>
      </api.Provider>
    </QueryClientProvider>
  );
}
