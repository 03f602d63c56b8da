/** The changes that operators make: to the override of a key, or to its bucket. */
import { capacityOf } from "../../../core/config.js";
import { HOUR } from "../../../core/durations.js";
import { keyOption } from "../../../core/key-option.js";
import { kindSetBy } from "../../../core/override-kinds.js";
import { isCredits } from "../../../core/rows/credits.js";
import type { OperatorAction } from "../../limiter/types/limiter-options.js";
import type { Operator } from "../../limiter/parts/operator.js";
import type { OverrideKind, OverrideRule } from "../../limiter/types/override-types.js";
import { badRequest } from "./admin-errors.js";
import type { AdminChange } from "./change-types.js";
import { logged } from "./log-action.js";
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
  until?: number | undefined;
  times?: number | undefined;
  add?: number | undefined;
  plan?: string | undefined;
  only?: OverrideKind | undefined;
  why?: string | undefined;
}

/** The parts of the router by which actions are carried out. */
export interface ActParts {
  operator: Operator;
  recorder: DecisionRecorder;
}

/**
 * Carries out an action, writes it down, and tells the listeners of decisions.
 *
 * @param by the operator, as `admin.actor` names them.
 */
export async function act(
  parts: ActParts,
  action: Exclude<OperatorAction, "undo">,
  input: ActionInput,
  by: string | undefined,
): Promise<AdminChange> {
  const { operator } = parts;
  demandFitting(operator, action, input);
  const key = storedKeyOf(operator, input);
  const { name, why } = input;
  const id = await logged(operator, { action, name, key, by, why }, kindSetBy(action), () =>
    change(operator, action, key, input),
  );
  return { ...(await changed(parts, action, input, by)), ...(id !== undefined && { change: id }) };
}

/** Tells the listeners of decisions what was done, and reads what is now. */
export async function changed(
  { operator, recorder }: ActParts,
  action: OperatorAction,
  input: ActionInput,
  by: string | undefined,
): Promise<AdminChange> {
  const { name } = input;
  const key = storedKeyOf(operator, input);
  const plan = await operator.planOf(name, key, givenKeyOf(input));
  await tell(operator, action, { ...input, storedKey: key, ownPlan: plan }, by);
  const [read, overrides] = await Promise.all([
    readItem(operator, name, key, plan),
    operator.overriding?.layersOf(name, key) ?? [],
  ]);
  const [item] = await withSince(operator, recorder, name, [read]);
  return {
    now: operator.clock(),
    item: item!,
    ...(overrides.length > 0 && { overrides: overrides.toReversed() }),
  };
}

interface ToTell extends ActionInput {
  storedKey: string | undefined;
  /** The plan without overrides. */
  ownPlan: string | undefined;
}

async function tell(
  operator: Operator,
  action: OperatorAction,
  { name, key, why, storedKey, ownPlan }: ToTell,
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
    ...(why && { why }),
  });
}

async function change(
  { operations, overrides, clock }: Operator,
  action: Exclude<OperatorAction, "undo">,
  key: string | undefined,
  { name, times, add, plan, only, until, for: ms }: ActionInput,
): Promise<void> {
  const of = keyOption(key);
  if (action === "reset") return operations.reset(name, of);
  if (action === "clear") {
    await overrides.clear(name, { ...of, only });
    return;
  }
  const rules: Record<typeof action, OverrideRule> = {
    ban: { blocked: true },
    exempt: { unlimited: true },
    raise: { times: times! },
    give: { add: add! },
    plan: { plan: plan! },
  };
  const lasts = ms ?? (action === "ban" && until === undefined ? DEFAULT_BAN : undefined);
  const end = lasts === undefined ? until : clock() + lasts;
  await overrides.set(name, { ...rules[action], ...of, until: end });
}

/** @throws TRPCError `BAD_REQUEST` for an action or a plan that the limit cannot have. */
function demandFitting(
  { configs, slotConfigs, overriding, plans }: Operator,
  action: Exclude<OperatorAction, "undo">,
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
  if (action === "give" && isCredits(configs.get(name)!)) {
    const message = `"${name}" is a balance of credits; add to it with limiter.credit()`;
    throw badRequest(message);
  }
  if (action === "plan" && !plans.has(name)) throw badRequest(`"${name}" has no plans`);
  if (plan !== undefined && !plans.names.includes(plan)) {
    throw badRequest(`plan must be one of ${plans.names.map((each) => `"${each}"`).join(", ")}`);
  }
  if (overriding !== undefined) return;
  throw badRequest(
    `"${action}" needs overrides, and this limiter has none: give createRateLimiter the option overrides: true`,
  );
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
