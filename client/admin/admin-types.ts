/** What the procedures of `rl.admin` answer, and the words of the control room for what it asks. */
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

/** What changes something. */
export type AdminVerb = Exclude<AdminAction, "view">;

/** The key of a question: what a person has typed, one that `list` gave, or the shared bucket. */
export type KeyInput = AdminKeyInput;

/** What the chart shows of a span of usage. Times are epoch ms. */
export interface UsageSpan {
  start: number;
  end: number;
  granted: number;
  denied: number;
}
