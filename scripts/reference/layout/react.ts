/** The pages of `trpc-rate-limit/react`. */
import type { Sections } from "./sections.js";

export const REACT: Sections = {
  "Set-up": [
    {
      main: "createRateLimitReact",
      types: ["RateLimitReactOptions", "LimitNames", "ClientWithLimits"],
    },
    { title: "RateLimitProvider", of: "createRateLimitReact", members: ["RateLimitProvider"] },
  ],
  Hooks: [
    { title: "useRateLimit", of: "createRateLimitReact", members: ["useRateLimit"] },
    {
      title: "useRateLimitedMutation",
      of: "createRateLimitReact",
      members: ["useRateLimitedMutation"],
    },
    "useCountdown",
    "isWaitCancelled",
  ],
  Components: [
    {
      main: "RateLimitCountdown",
      types: ["RateLimitCountdownProps", "CountdownWords", "CountdownLabels"],
    },
    { title: "RateLimitMeter", of: "createRateLimitReact", members: ["RateLimitMeter"] },
  ],
};
