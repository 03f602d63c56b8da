export { createRateLimitTRPC } from "./create-rate-limit-trpc.js";
export type {
  AdminAction,
  AdminAuthorizeOptions,
  AdminHold,
  AdminItem,
  AdminKey,
  AdminKeyLimit,
  AdminLimit,
  AdminLimits,
  AdminOverride,
  AdminPage,
  AdminPlan,
  AdminRow,
  AdminSlots,
  RateLimitAdminOptions,
} from "./admin/admin-types.js";
export type {
  AdminChange,
  AdminChangeEntry,
  AdminChanges,
  AdminOverrides,
  AdminOverrideState,
  AdminPlanChange,
} from "./admin/change-types.js";
export type {
  AdminDenial,
  AdminDenials,
  AdminTop,
  AdminUsage,
  AdminUsageItem,
} from "./admin/usage-types.js";
export type {
  AdminChangesInput,
  AdminClearInput,
  AdminDenialsInput,
  AdminGiveInput,
  AdminKeyInput,
  AdminListInput,
  AdminOverridesInput,
  AdminPlanInput,
  AdminRaiseInput,
  AdminTarget,
  AdminTimedInput,
  AdminTopInput,
  AdminUndoInput,
  AdminUndone,
  AdminUsageInput,
  RateLimitAdminRouter,
} from "./admin/router-types.js";
export type { ChargedNames, FirstNames } from "./charged-names.js";
export { formatRateLimitError, type RateLimitErrorShape } from "./errors.js";
export { type KeyAnswer, SHARED_BUCKET, type SharedBucket } from "../limiter/types/key-answer.js";
export type { KeyResolver, KeyResolverOptions } from "../live/key-for-caller.js";
export type { PlanForCaller, PlanForCallerOptions } from "../live/plan-for-caller.js";
export type {
  ChargeOnErrorOptions,
  FirstGranted,
  Granted,
  IdOfCall,
  RateLimited,
  RateLimitedCall,
  RateLimitedFirstOptions,
  RateLimitedOptions,
  SettledCounts,
  SlotOfCall,
} from "./rate-limited-types.js";
export { rateLimitResponseMeta, type RateLimitResponseMetaOptions } from "./response-headers.js";
export type { AuthorizeOptions } from "../live/live-limits.js";
export type { RateLimitRouter } from "./router-types.js";
export type { RateLimitTRPCOptions, TRPCRootLike } from "./trpc-options.js";
