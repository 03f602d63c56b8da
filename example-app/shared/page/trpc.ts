/** The typed client, and the hooks that know the names of the server's limits. */
import { createTRPCClient } from "@trpc/client";
import { createTRPCContext } from "@trpc/tanstack-react-query";
import { rateLimitLink, shareStream } from "trpc-rate-limit/client";
import { createRateLimitReact } from "trpc-rate-limit/react";
import type { AppRouter } from "../server/router.js";
import { tellSentCalls } from "./sent-calls.js";
import { serverLink } from "./server-link.js";

export const client = createTRPCClient<AppRouter>({
  links: [
    // Limit: before the links that send, so that the hooks know of a denial at once. `model.ask`
    // reserves, and predictions are about calls that do not reserve.
    rateLimitLink({ limits: { "model.ask": null } }),
    tellSentCalls,
    serverLink,
  ],
});

export const { TRPCProvider, useTRPC, useTRPCClient } = createTRPCContext<AppRouter>();

// Limit: the hooks of all parts. The hooks know the names of the limits by the router's type.
export const {
  RateLimitProvider,
  useRateLimit,
  useRateLimitedMutation,
  RateLimitCountdown,
  RateLimitMeter,
} = createRateLimitReact<AppRouter>({ shareStream });
