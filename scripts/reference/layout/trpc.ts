/** The pages of `trpc-rate-limit/trpc`. */
import type { Sections } from "./sections.js";

export const TRPC: Sections = {
  "On the server": [
    "createRateLimitTRPC",
    {
      title: "rateLimited",
      types: [
        "RateLimited",
        "RateLimitedOptions",
        "ChargeOnErrorOptions",
        "RateLimitedFirstOptions",
        "RateLimitedCall",
      ],
    },
    {
      title: "What a procedure finds",
      about: "What `rateLimited` puts at `ctx.rateLimit`.",
      types: ["Granted", "FirstGranted", "IdOfCall", "SlotOfCall", "SettledCounts"],
    },
    { title: "router", types: ["RateLimitRouter"] },
    "formatRateLimitError",
    "rateLimitResponseMeta",
  ],
  "For operators": [
    {
      title: "admin",
      types: [
        "RateLimitAdminRouter",
        "RateLimitAdminOptions",
        "AdminAuthorizeOptions",
        "AdminAction",
      ],
    },
    {
      title: "Inputs of admin",
      about: "What the procedures of the router for operators take.",
      types: [
        "AdminListInput",
        "AdminKeyInput",
        "AdminTopInput",
        "AdminUsageInput",
        "AdminDenialsInput",
        "AdminTarget",
        "AdminTimedInput",
        "AdminRaiseInput",
      ],
    },
    {
      title: "Answers of admin",
      about: "What the procedures of the router for operators resolve with.",
      types: [
        "AdminLimits",
        "AdminLimit",
        "AdminPage",
        "AdminItem",
        "AdminKey",
        "AdminKeyLimit",
        "AdminUsage",
        "AdminTop",
        "AdminDenials",
        "AdminChange",
        "AdminOverride",
      ],
    },
  ],
  "Types that several of them need": [
    {
      title: "Keys",
      about: "Whose bucket it is.",
      types: ["KeyAnswer", "SHARED_BUCKET", "SharedBucket"],
    },
  ],
};
