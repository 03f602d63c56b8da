export { createRateLimitTRPC } from "./create-rate-limit-trpc.js";
export type {
  AdminAction,
  AdminAuthorizeOptions,
  AdminChange,
  AdminDenial,
  AdminDenials,
  AdminHold,
  AdminItem,
  AdminKey,
  AdminKeyLimit,
  AdminLimit,
  AdminLimits,
  AdminOverride,
  AdminPage,
  AdminPlan,
  AdminPlanChange,
  AdminRow,
  AdminSlots,
  AdminUsage,
  AdminUsageItem,
  RateLimitAdminOptions,
} from "./admin/admin-types.js";
export type {
  AdminDenialsInput,
  AdminKeyInput,
  AdminListInput,
  AdminPlanInput,
  AdminRaiseInput,
  AdminTarget,
  AdminTimedInput,
  AdminUsageInput,
  RateLimitAdminRouter,
} from "./admin/router-types.js";
export type { ChargedNames, FirstNames } from "./charged-names.js";
export { formatRateLimitError, type RateLimitErrorShape } from "./errors.js";
export { type KeyAnswer, SHARED_BUCKET, type SharedBucket } from "../limiter/types/key-answer.js";
export type { KeyResolver, KeyResolverOptions } from "./key-for-caller.js";
export type { PlanForCaller, PlanForCallerOptions } from "./plan-for-caller.js";
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
export type { AuthorizeOptions } from "./router.js";
export type { RateLimitRouter } from "./router-types.js";
export type { RateLimitTRPCOptions, TRPCRootLike } from "./trpc-options.js";
