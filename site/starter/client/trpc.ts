import { createTRPCClient, httpBatchLink, httpSubscriptionLink, splitLink } from "@trpc/client";
import { createRateLimitReact } from "trpc-rate-limit/react";
import type { AppRouter } from "../server/router";

export const client = createTRPCClient<AppRouter>({
  links: [
    splitLink({
      condition: ({ type }) => type === "subscription",
      true: httpSubscriptionLink({ url: "/trpc" }),
      false: httpBatchLink({ url: "/trpc" }),
    }),
  ],
});

export const { RateLimitProvider, useRateLimitedMutation, RateLimitCountdown } =
  createRateLimitReact<AppRouter>();
