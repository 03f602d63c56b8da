import { createRateLimitReact } from "trpc-rate-limit/fetch/react";

// With the type of your limiter, the names autocomplete: createRateLimitReact<typeof limiter>(…).
// With tRPC, use createRateLimitReact<AppRouter>() of trpc-rate-limit/react.
export const { RateLimitProvider, RateLimitCountdown, useRateLimit } = createRateLimitReact({
  url: "/api/limits",
});
