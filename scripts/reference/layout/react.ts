/** The pages of `trpc-rate-limit/react`. */
import type { Sections } from "./sections.js";

export const REACT: Sections = {
  "Set-up": [
    {
      main: "createRateLimitReact",
      types: [
        "RateLimitReactOptions",
        "RateLimitReact",
        "RateLimitHooks",
        "LimitNames",
        "ClientWithLimits",
      ],
    },
    {
      title: "RateLimitProvider",
      of: "RateLimitReact",
      members: ["RateLimitProvider"],
      types: ["RateLimitProviderProps", "LiveProps", "ObservedProps"],
    },
  ],
  Hooks: [
    {
      title: "useRateLimit",
      of: "RateLimitHooks",
      members: ["useRateLimit"],
      types: ["UseRateLimitOptions", "UseRateLimitResult"],
    },
    {
      title: "useRateLimitedMutation",
      of: "RateLimitHooks",
      members: ["useRateLimitedMutation"],
      types: [
        "UseRateLimitedMutationOptions",
        "UseRateLimitedMutationResult",
        "RateLimitedMutationState",
      ],
    },
    "useCountdown",
    "isWaitCancelled",
  ],
  Components: [
    {
      main: "RateLimitCountdown",
      types: ["RateLimitCountdownProps", "CountdownWords", "CountdownLabels"],
    },
    {
      title: "RateLimitMeter",
      of: "RateLimitHooks",
      members: ["RateLimitMeter"],
      types: ["RateLimitMeterProps"],
    },
  ],
};
