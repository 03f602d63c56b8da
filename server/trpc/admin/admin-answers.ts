/** The answers of the admin router to callers that `admin.authorize` has let pass. */
import { keyOption } from "../../../core/key-option.js";
import type { OperatorAction } from "../../limiter/types/limiter-options.js";
import type { LimitConfigs } from "../../limiter/types/names.js";
import { OPERATOR_ACTIONS } from "../../limiter/parts/operator-actions.js";
import type { Operator } from "../../limiter/parts/operator.js";
import { act, type ActionInput } from "./actions.js";
import { badRequest } from "./admin-errors.js";
import type {
  AdminAction,
  AdminKey,
  AdminKeyLimit,
  AdminLimits,
  AdminPage,
} from "./admin-types.js";
import type { AdminChange, AdminPlanChange } from "./change-types.js";
import type { AdminDenial, AdminDenials, AdminTop, AdminUsage } from "./usage-types.js";
import { givePlan } from "./give-plan.js";
import { type Guard, refusal } from "./guard.js";
import { listItems, type Lists } from "./read-items.js";
import type { Denial, DecisionRecorder } from "./recorder.js";
import type {
  AdminDenialsInput,
  AdminKeyInput,
  AdminListInput,
  AdminPlanInput,
  AdminTopInput,
  AdminUsageInput,
} from "./router-types.js";
import { nearKeys } from "./near-keys.js";
import { DEFAULT_ITEMS } from "./schemas.js";
import { showKey } from "./show-key.js";
import { shownLimit, withPlans } from "./show-limit.js";
import { showTop, type TopUses } from "./show-top.js";
import { showUsage, type Uses } from "./show-usage.js";
import { withSince } from "./since.js";
import { givenKeyOf, storedKeyOf } from "./stored-key-of.js";
import type { TopOfProcesses } from "./top-of-processes.js";

const ACTIONS: readonly AdminAction[] = [
  "view",
  ...OPERATOR_ACTIONS.filter((action) => action !== "undo"),
];

/** The parts that all procedures of a router share. */
export interface AdminParts<TName extends string> {
  limiter: Lists & TopUses & Uses & { readonly limits: LimitConfigs };
  names: readonly TName[];
  operator: Operator;
  guard: Guard<TName>;
  recorder: DecisionRecorder;
  ofProcesses: TopOfProcesses;
  /** The operator, as `admin.actor` names them. */
  actorOf: (ctx: unknown) => string | undefined;
}

/** A call of a procedure. */
export interface AdminCall<TInput> {
  ctx: unknown;
  input: TInput;
}

export type Answer<TName extends string, TInput, TAnswer> = (
  parts: AdminParts<TName>,
  call: AdminCall<TInput>,
) => Promise<TAnswer>;

export async function answerLimits<TName extends string>(
  { limiter, names, operator, guard }: AdminParts<TName>,
  { ctx }: AdminCall<unknown>,
): Promise<AdminLimits<TName>> {
  const [actions, shown] = await Promise.all([
    allowed(ACTIONS, (action) => guard.allows(ctx, action)),
    allowed(names, (name) => guard.allows(ctx, "view", { name })),
  ]);
  const { isHashed: hashed, clock } = operator;
  const limits = shown.map((name) => shownLimit(operator, name, limiter.limits[name]!));
  const disabled = !operator.isOn() && { disabled: true as const };
  return { now: clock(), hashed, ...disabled, actions, limits };
}

export async function answerList(
  { limiter, names, operator, recorder }: AdminParts<string>,
  { input: { name, denied = true, after, count = DEFAULT_ITEMS } }: AdminCall<AdminListInput>,
): Promise<AdminPage> {
  const page = await listItems(operator, limiter, known(names, name), { denied, after, count });
  const items = await withSince(operator, recorder, name, page.items);
  return { now: operator.clock(), ...page, items };
}

export async function answerKey<TName extends string>(
  parts: AdminParts<TName>,
  { ctx, input }: AdminCall<AdminKeyInput | undefined>,
): Promise<AdminKey<TName>> {
  const { names, operator, guard } = parts;
  const shown = await allowed(names, (name) =>
    guard.allows(ctx, "view", { name, key: input?.key }),
  );
  const key = storedKeyOf(operator, input);
  const given = givenKeyOf(input);
  const limits = await showKey(parts, shown, key, given);
  const near =
    !input?.near || given === undefined || operator.isHashed || limits.some(isKnown)
      ? undefined
      : await nearKeys(operator, shown, given, (name, other) =>
          guard.allows(ctx, "view", { name, key: other }),
        );
  return { now: operator.clock(), ...keyOption(key), limits, ...(near && { near }) };
}

export async function answerUsage(
  { limiter, names, operator, recorder }: AdminParts<string>,
  { input: { name, ...span } }: AdminCall<AdminUsageInput>,
): Promise<AdminUsage> {
  return showUsage(operator, limiter, recorder, known(names, name), span);
}

export async function answerDenials<TName extends string>(
  { names, operator, guard, recorder }: AdminParts<TName>,
  { ctx, input: { name, count = DEFAULT_ITEMS } = {} }: AdminCall<AdminDenialsInput | undefined>,
): Promise<AdminDenials<TName>> {
  const shown = await viewed({ names, guard }, ctx, name);
  const { since, items } = recorder.denials(shown, count);
  return {
    now: operator.clock(),
    since,
    items: items.map((denial) => shownDenial(operator, denial)),
  };
}

export async function answerTop<TName extends string>(
  parts: AdminParts<TName>,
  { ctx, input: { name, ...question } }: AdminCall<AdminTopInput>,
): Promise<AdminTop<TName>> {
  return showTop(parts, await viewed(parts, ctx, name), question);
}

export function answerAction(
  action: Exclude<OperatorAction, "plan" | "undo">,
): Answer<string, ActionInput, AdminChange> {
  return async (parts, { ctx, input }) => {
    const by = parts.actorOf(ctx);
    return act(parts, action, { ...input, name: known(parts.names, input.name) }, by);
  };
}

export async function answerPlan<TName extends string>(
  parts: AdminParts<TName>,
  { ctx, input: { name, ...input } }: AdminCall<AdminPlanInput>,
): Promise<AdminPlanChange<TName>> {
  const by = parts.actorOf(ctx);
  const of = name === undefined ? await plannedFor(parts, ctx, input) : [known(parts.names, name)];
  return givePlan(parts, of, input, by);
}

/** The limit of the input, or all limits that the caller may view. */
export async function viewed<TName extends string>(
  { names, guard }: Pick<AdminParts<TName>, "names" | "guard">,
  ctx: unknown,
  name: string | undefined,
  key?: string,
): Promise<TName[]> {
  if (name !== undefined) return [known(names, name)];
  return allowed(names, (each) => guard.allows(ctx, "view", { name: each, key }));
}

export function known<TName extends string>(names: readonly TName[], name: string): TName {
  const found = names.find((each) => each === name);
  if (found === undefined) throw badRequest("There is no such rate limit");
  return found;
}

/** The limits for an input without a name: the limits with plans of which the caller may give a plan. */
async function plannedFor<TName extends string>(
  { names, operator, guard }: AdminParts<TName>,
  ctx: unknown,
  { key, all }: Pick<AdminPlanInput, "key" | "all">,
): Promise<TName[]> {
  const planned = withPlans(operator, names);
  if (planned.length === 0) throw badRequest("No rate limit has plans that a key could be given");
  const found = await allowed(planned, (name) => guard.allows(ctx, "plan", { key, all, name }));
  if (found.length === 0) throw refusal("plan");
  return found;
}

/** The items of a list that `allows` permits, in the order of the list. */
async function allowed<TItem>(
  all: readonly TItem[],
  allows: (item: TItem) => Promise<boolean>,
): Promise<TItem[]> {
  const answers = await Promise.all(all.map(allows));
  return all.filter((_, i) => answers[i]);
}

/** Whether anything is stored of the key under this limit. */
function isKnown({ rows, overrides, item, slots }: AdminKeyLimit): boolean {
  const holders = slots?.holders?.length ?? 0;
  const has = overrides !== undefined || item.override !== undefined;
  return rows.length > 0 || holders > 0 || has;
}

function shownDenial<TName extends string>(
  { toStoredKey }: Operator,
  { at, name, key, count, retryAfter }: Denial,
): AdminDenial<TName> {
  return { at, name: name as TName, ...keyOption(toStoredKey(key)), count, retryAfter };
}
