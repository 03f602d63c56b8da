/** The answers of the procedures of `rl.admin`, and the control room's own types for its questions. */
import type { AdminAction } from "../../server/trpc/admin/admin-types.js";
import type { AdminKeyInput, AdminTopInput } from "../../server/trpc/admin/router-types.js";
import type { AdminTop } from "../../server/trpc/admin/usage-types.js";

export type {
  AdminAction,
  AdminItem,
  AdminKey,
  AdminKeyLimit,
  AdminLimit,
  AdminLimits,
  AdminOverride,
  AdminPage,
  AdminPlan,
} from "../../server/trpc/admin/admin-types.js";
export type {
  AdminChange,
  AdminChangeEntry,
  AdminChanges,
  AdminOverrides,
  AdminOverrideState,
  AdminPlanChange,
} from "../../server/trpc/admin/change-types.js";
export type { AdminDenials, AdminTop, AdminUsage } from "../../server/trpc/admin/usage-types.js";

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

export type { AdminTopInput };

/** A key of the answer of `top`. */
export type AdminTopItem = AdminTop["items"][number];

export type AdminTopSource = AdminTop["sources"][number];
