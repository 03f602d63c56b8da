/** The changes that operators make: to the override of a key, or to its bucket. */
import { capacityOf } from "../../../core/config.js";
import { HOUR } from "../../../core/durations.js";
import { keyOption } from "../../../core/key-option.js";
import { isCredits } from "../../../core/rows/credits.js";
import type { OperatorAction } from "../../limiter/types/limiter-options.js";
import type { Operator } from "../../limiter/parts/operator.js";
import type { OverrideRule } from "../../limiter/types/override-types.js";
import { badRequest } from "./admin-errors.js";
import type { AdminChange } from "./admin-types.js";
import { readItem } from "./read-items.js";
import type { DecisionRecorder } from "./recorder.js";
import { withSince } from "./since.js";
import { givenKeyOf, storedKeyOf } from "./stored-key-of.js";

/** The length of a ban for which the caller gives none, ms. */
const DEFAULT_BAN = HOUR;

export interface ActionInput {
  name: string;
  key?: string | undefined;
  stored?: boolean | undefined;
  for?: number | undefined;
  times?: number | undefined;
  plan?: string | undefined;
}

/**
 * Carries out an action, and tells the listeners of decisions.
 *
 * @param by the operator, as `admin.actor` names them.
 */
export async function act(
  { operator, recorder }: { operator: Operator; recorder: DecisionRecorder },
  action: OperatorAction,
  input: ActionInput,
  by: string | undefined,
): Promise<AdminChange> {
  const { name } = input;
  demandFitting(operator, action, input);
  const key = storedKeyOf(operator, input);
  await change(operator, action, key, input);
  const plan = await operator.planOf(name, key, givenKeyOf(input));
  await tell(operator, action, { ...input, storedKey: key, ownPlan: plan }, by);
  const [read, override] = await Promise.all([
    readItem(operator, name, key, plan),
    overrideOf(operator, name, key),
  ]);
  const [item] = await withSince(operator, recorder, name, [read]);
  return { now: operator.clock(), item: item!, ...(override && { override }) };
}

interface ToTell extends ActionInput {
  storedKey: string | undefined;
  /** The plan without overrides. */
  ownPlan: string | undefined;
}

async function tell(
  operator: Operator,
  action: OperatorAction,
  { name, key, storedKey, ownPlan }: ToTell,
  by: string | undefined,
): Promise<void> {
  const { decisions, clock } = operator;
  if (decisions.heard === undefined) return;
  // The action has been done. A listener that keeps a record has to know of the action, also if the store
  // fails from now on.
  const unknown = { ok: true, value: 0, ts: clock(), storeFailed: true } as const;
  const { result, plan } = await answerToOne(operator, name, storedKey, ownPlan).catch(() => ({
    result: unknown,
    plan: ownPlan,
  }));
  decisions.tell({
    action,
    name,
    key,
    count: 1,
    result,
    ...(plan !== undefined && { plan }),
    ...(by !== undefined && { by }),
  });
}

async function change(
  { operations, overrides, clock }: Operator,
  action: OperatorAction,
  key: string | undefined,
  { name, times, plan, for: ms = action === "ban" ? DEFAULT_BAN : undefined }: ActionInput,
): Promise<void> {
  const of = keyOption(key);
  if (action === "reset") return operations.reset(name, of);
  if (action === "clear") {
    await overrides.clear(name, of);
    return;
  }
  const rules: Record<typeof action, OverrideRule> = {
    ban: { blocked: true },
    exempt: { unlimited: true },
    raise: { times: times! },
    plan: { plan: plan! },
  };
  const until = ms === undefined ? {} : { until: clock() + ms };
  await overrides.set(name, { ...rules[action], ...of, ...until });
}

/** @throws TRPCError `BAD_REQUEST` for an action or a plan that the limit cannot have. */
function demandFitting(
  { configs, slotConfigs, hasOverrides, plans }: Operator,
  action: OperatorAction,
  { name, plan }: ActionInput,
): void {
  if (action === "reset") {
    const config = configs.get(name);
    if (config === undefined || !isCredits(config)) return;
    const message =
      `"reset" fills a bucket, and "${name}" is a balance of credits, which holds what was bought; ` +
      "add credits with limiter.credit()";
    throw badRequest(message);
  }
  if (slotConfigs.has(name)) {
    const message = `"${action}" changes a limit of tokens, and "${name}" has slots; "reset" frees all slots of a key`;
    throw badRequest(message);
  }
  if (action === "plan" && !plans.has(name)) throw badRequest(`"${name}" has no plans`);
  if (plan !== undefined && !plans.names.includes(plan)) {
    throw badRequest(`plan must be one of ${plans.names.map((each) => `"${each}"`).join(", ")}`);
  }
  if (hasOverrides) return;
  throw badRequest(
    `"${action}" needs overrides, and this limiter has none: give createRateLimiter the option overrides: true`,
  );
}

/** The override of exactly this key, or of all keys. */
async function overrideOf(
  { overrides, hasOverrides, slotConfigs }: Operator,
  name: string,
  key: string | undefined,
) {
  if (!hasOverrides || slotConfigs.has(name)) return undefined;
  return overrides.get(name, keyOption(key));
}

/**
 * The answer to a call for one token, or for the capacity where the capacity is less. An override that
 * names a plan comes before the key's own plan.
 */
async function answerToOne(
  { operations, resolve, slotConfigs }: Operator,
  name: string,
  key: string | undefined,
  ownPlan: string | undefined,
) {
  const of = { ...keyOption(key), plan: ownPlan };
  if (slotConfigs.has(name)) return { result: await operations.check(name, of), plan: ownPlan };
  const { config, plan } = resolve(name, of);
  const count = Math.min(1, capacityOf(config));
  return { result: await operations.check(name, { ...of, count }), plan };
}
