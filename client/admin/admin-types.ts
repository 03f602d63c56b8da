/** The answers of the procedures of `rl.admin`, and the control room's own types for its questions. */
import type { AdminAction } from "../../server/trpc/admin/admin-types.js";
import type { AdminKeyInput } from "../../server/trpc/admin/router-types.js";

export type {
  AdminAction,
  AdminChange,
  AdminDenials,
  AdminItem,
  AdminKey,
  AdminKeyLimit,
  AdminLimit,
  AdminLimits,
  AdminOverride,
  AdminPage,
  AdminPlan,
  AdminPlanChange,
  AdminUsage,
} from "../../server/trpc/admin/admin-types.js";

/** The actions that change something. */
export type AdminVerb = Exclude<AdminAction, "view">;

/** The key of a question: a key that a person has typed or that `list` gave, or the shared bucket. */
export type KeyInput = AdminKeyInput;

/** A span of usage, as the chart shows it. Times are epoch ms. */
export interface UsageSpan {
  start: number;
  end: number;
  granted: number;
  denied: number;
}
