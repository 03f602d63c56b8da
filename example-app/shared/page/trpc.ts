/** The typed client, and the hooks that know the names of the server's limits. */
import {
  createTRPCClient,
  httpBatchStreamLink,
  httpSubscriptionLink,
  retryLink,
  splitLink,
} from "@trpc/client";
import { createTRPCContext } from "@trpc/tanstack-react-query";
import { rateLimitLink, shareStream } from "trpc-rate-limit/client";
import { createRateLimitReact } from "trpc-rate-limit/react";
import type { AppRouter } from "../server/router.js";

export const client = createTRPCClient<AppRouter>({
  links: [
    // Limit: before the links that send, so that the hooks know of a denial at once.
    // The model reserves, and predictions are about calls that do not.
    rateLimitLink({ limits: { "model.ask": null } }),
    // A message that got no answer is sent again. The server stores it once, by its nonce.
    retryLink({
      retry: ({ op, error, attempts }) =>
        op.path === "chat.send" && error.data == null && attempts < 10,
      retryDelayMs: () => 1000,
    }),
    splitLink({
      condition: (operation) => operation.type === "subscription",
      true: httpSubscriptionLink({ url: "/trpc" }),
      // Answers arrive as soon as they are there, and may be streams themselves.
      false: httpBatchStreamLink({ url: "/trpc" }),
    }),
  ],
});

export const { TRPCProvider, useTRPC, useTRPCClient } = createTRPCContext<AppRouter>();

// Limit: the hooks of all parts. They know the names of the limits by the router's type.
export const {
  RateLimitProvider,
  useRateLimit,
  useRateLimitedMutation,
  RateLimitCountdown,
  RateLimitMeter,
} = createRateLimitReact<AppRouter>({ shareStream });
