/**
 * The router for operators: shows which keys are limited, and changes limits of keys. Every procedure
 * asks `admin.authorize` first. The router has all limits, not only the limits that pages may know.
 */
import type { TRPCBuilder } from "@trpc/server";
import type { OperatorAction } from "../../limiter/types/limiter-options.js";
import { createOperator } from "../../limiter/parts/operator.js";
import {
  type AdminCall,
  type AdminParts,
  type Answer,
  answerAction,
  answerDenials,
  answerKey,
  answerLimits,
  answerList,
  answerPlan,
  answerTop,
  answerUsage,
} from "./admin-answers.js";
import { answerChanges, answerOverrides, answerUndo } from "./change-answers.js";
import { throwingAdminErrors } from "./admin-errors.js";
import type { AdminAction, RateLimitAdminOptions } from "./admin-types.js";
import { createGuard, type Takes } from "./guard.js";
import { DecisionRecorder, recorderOf } from "./recorder.js";
import type { RateLimitAdminRouter } from "./router-types.js";
import { createAdminSchemas } from "./schemas.js";
import { topOfProcesses } from "./top-exchange.js";

export interface AdminRouterOptions<TContext extends object, TName extends string> extends Pick<
  AdminParts<TName>,
  "limiter" | "names"
> {
  /** `undefined` refuses all calls. */
  admin: RateLimitAdminOptions<TContext, TName> | undefined;
}

export function createAdminRouter<
  TContext extends object,
  TMeta extends object,
  TName extends string,
>(
  t: Pick<ReturnType<TRPCBuilder<TContext, TMeta>["create"]>, "procedure" | "router">,
  options: AdminRouterOptions<TContext, TName>,
): RateLimitAdminRouter<TContext, TMeta, TName> {
  const parts = createParts(options);
  const schemas = createAdminSchemas<TName>();

  /** A procedure for callers that `authorize` allows to take the action. */
  const guarded = (action: AdminAction, ...takes: Takes) =>
    t.procedure.use(async (call) => {
      await parts.guard.demand(action, takes, call);
      return call.next();
    });

  /** Runs an answer. Callers get its errors as far as they may read them. */
  function run<TInput, TAnswer>(answer: Answer<TName, TInput, TAnswer>) {
    return (call: AdminCall<TInput>) => throwingAdminErrors(() => answer(parts, call));
  }
  const acting = (action: Exclude<OperatorAction, "plan" | "undo">) => run(answerAction(action));

  return t.router({
    /** The limits that the caller may view, and what the caller may do. */
    limits: guarded("view").query(run(answerLimits)),

    /** The keys of a limit, page by page. */
    list: guarded("view", "name").input(schemas.list).query(run(answerList)),

    /** One key under all limits that the caller may view for it. */
    key: guarded("view", "key").input(schemas.key).query(run(answerKey)),

    /** How much of a limit was granted and denied over time, of all keys together. */
    usage: guarded("view", "name").input(schemas.usage).query(run(answerUsage)),

    /** The newest denials of this process. */
    denials: guarded("view", "name").input(schemas.denials).query(run(answerDenials)),

    /** The keys with the most denials, or that took the most, of one limit or of all. */
    top: guarded("view", "name").input(schemas.top).query(run(answerTop)),

    /** Denies every call, for an hour if the caller does not say how long. */
    ban: guarded("ban", "name", "key").input(schemas.timed).mutation(acting("ban")),

    /** Lets every call pass. */
    exempt: guarded("exempt", "name", "key").input(schemas.timed).mutation(acting("exempt")),

    /** Gives a key `times` as many tokens as it has without the override. */
    raise: guarded("raise", "name", "key").input(schemas.raise).mutation(acting("raise")),

    /** Gives a key so many tokens more, until the end. */
    give: guarded("give", "name", "key").input(schemas.give).mutation(acting("give")),

    /** Puts a key on a plan, for one limit, or for all limits with plans. */
    plan: guarded("plan", "name", "key").input(schemas.plan).mutation(run(answerPlan)),

    /** Ends the overrides of a key, or those of one kind. */
    clear: guarded("clear", "name", "key").input(schemas.clear).mutation(acting("clear")),

    /** Fills a bucket, and frees all slots. */
    reset: guarded("reset", "name", "key").input(schemas.target).mutation(acting("reset")),

    /** The overrides of all keys: those that end soon first. */
    overrides: guarded("view", "name").input(schemas.overrides).query(run(answerOverrides)),

    /** What operators have changed, the newest first. */
    changes: guarded("view", "name", "key").input(schemas.changes).query(run(answerChanges)),

    /** Undoes a change. The caller needs the right to the action that is undone. */
    undo: guarded("view").input(schemas.undo).mutation(run(answerUndo)),
  });
}

function createParts<TContext extends object, TName extends string>({
  limiter,
  names,
  admin,
}: AdminRouterOptions<TContext, TName>): AdminParts<TName> {
  const operator = createOperator(limiter);
  const { decisions, clock } = operator;
  // Without `admin`, all calls are refused: record nothing.
  const recorder =
    admin === undefined ? new DecisionRecorder([], clock) : recorderOf(decisions, names, clock);
  return {
    limiter,
    names,
    operator,
    guard: createGuard(admin, names),
    recorder,
    ofProcesses: topOfProcesses(recorder, operator, names),
    actorOf(ctx) {
      const by: unknown = admin?.actor?.({ ctx: ctx as TContext });
      return typeof by === "string" ? by : undefined;
    },
  };
}
