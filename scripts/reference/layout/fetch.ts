/** The pages of `trpc-rate-limit/fetch` and `trpc-rate-limit/fetch/react`. */
import type { Sections } from "./sections.js";

export const FETCH: Sections = {
  "The observer": [
    { main: "createRateLimitObserver", types: ["UrlObserverOptions"] },
    {
      main: "createFetchTransport",
      types: [
        "FetchTransportOptions",
        "EventSourceConstructor",
        "EventSourceLike",
        "EventSourceInit",
      ],
    },
    "inspectRateLimits",
  ],
  Requests: [
    { main: "rateLimitFetch", types: ["RateLimitFetchOptions", "RequestLimit", "LimitedRequest"] },
  ],
  "Types that several of them need": [
    {
      title: "Names",
      about: "How the names of limits are read from the type of the server's limiter or handler.",
      types: ["WithLimits", "AnyLimits", "LimitNameOf"],
    },
  ],
};

export const FETCH_REACT: Sections = {
  "Set-up": [
    { main: "createRateLimitReact", types: ["FetchReactOptions", "FetchReact"] },
    {
      title: "RateLimitProvider",
      of: "FetchReact",
      members: ["RateLimitProvider"],
      types: ["FetchProviderProps"],
    },
  ],
  Hooks: [
    {
      title: "useRateLimitedMutation",
      of: "FetchReact",
      members: ["useRateLimitedMutation"],
    },
    {
      title: "useRateLimitedAction",
      of: "FetchReact",
      members: ["useRateLimitedAction"],
      types: ["RateLimitedActionOptions", "RateLimitedAction"],
    },
  ],
  Components: [
    {
      title: "RateLimitButton",
      of: "FetchReact",
      members: ["RateLimitButton"],
      types: ["RateLimitButtonProps", "ShownButton"],
    },
  ],
};
