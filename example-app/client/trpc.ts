/** The typed client, and the hooks that know the names of the server's limits. */
import { createTRPCClient, httpBatchLink, httpSubscriptionLink, splitLink } from "@trpc/client";
import { createTRPCContext } from "@trpc/tanstack-react-query";
import { rateLimitLink } from "trpc-rate-limit/client";
import { createRateLimitReact } from "trpc-rate-limit/react";
import type { AppRouter } from "../server/router.js";

export const client = createTRPCClient<AppRouter>({
  links: [
    // Before the links that send, so that the hooks know of a denial at once.
    rateLimitLink(),
    splitLink({
      condition: (operation) => operation.type === "subscription",
      true: httpSubscriptionLink({ url: "/trpc" }),
      false: httpBatchLink({ url: "/trpc" }),
    }),
  ],
});

export const { TRPCProvider, useTRPC } = createTRPCContext<AppRouter>();
export const { RateLimitProvider, useRateLimitedMutation, RateLimitCountdown, RateLimitMeter } =
  createRateLimitReact<AppRouter>();
