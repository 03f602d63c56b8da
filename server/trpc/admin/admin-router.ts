/**
 * The router for operators: shows which keys are limited, and changes limits of keys. Every procedure
 * asks `admin.authorize` first. The router has all limits, not only the limits that pages may know.
 */
import type { TRPCBuilder } from "@trpc/server";
import { keyOption } from "../../../core/key-option.js";
import type { OperatorAction } from "../../limiter/types/limiter-options.js";
import type { LimitConfigs } from "../../limiter/types/names.js";
import { OPERATOR_ACTIONS } from "../../limiter/parts/operator-actions.js";
import { createOperator } from "../../limiter/parts/operator.js";
import { act, type ActionInput } from "./actions.js";
import { badRequest, throwingAdminErrors } from "./admin-errors.js";
import type {
  AdminAction,
  AdminDenial,
  AdminDenials,
  AdminKey,
  AdminLimits,
  AdminPage,
  AdminPlanChange,
  RateLimitAdminOptions,
} from "./admin-types.js";
import { givePlan } from "./give-plan.js";
import { createGuard, refusal, type Takes } from "./guard.js";
import { listItems, type Lists } from "./read-items.js";
import { type Denial, DecisionRecorder, recorderOf } from "./recorder.js";
import type { RateLimitAdminRouter } from "./router-types.js";
import { createAdminSchemas, DEFAULT_ITEMS } from "./schemas.js";
import { showKey } from "./show-key.js";
import { shownLimit, withPlans } from "./show-limit.js";
import { showUsage, type Uses } from "./show-usage.js";
import { withSince } from "./since.js";
import { givenKeyOf, storedKeyOf } from "./stored-key-of.js";

const ACTIONS: readonly AdminAction[] = ["view", ...OPERATOR_ACTIONS];

export interface AdminRouterOptions<TContext extends object, TName extends string> {
  limiter: Lists & Uses & { readonly limits: LimitConfigs };
  names: readonly TName[];
  /** `undefined` refuses all calls. */
  admin: RateLimitAdminOptions<TContext, TName> | undefined;
}

export function createAdminRouter<
  TContext extends object,
  TMeta extends object,
  TName extends string,
>(
  t: Pick<ReturnType<TRPCBuilder<TContext, TMeta>["create"]>, "procedure" | "router">,
  { limiter, names, admin }: AdminRouterOptions<TContext, TName>,
): RateLimitAdminRouter<TContext, TMeta, TName> {
  const operator = createOperator(limiter);
  const guard = createGuard(admin, names);
  const schemas = createAdminSchemas<TName>();
  // Without `admin`, all calls are refused: record nothing.
  const recorder =
    admin === undefined
      ? new DecisionRecorder([], operator.clock)
      : recorderOf(operator.decisions, names, operator.clock);

  /** A procedure for callers that `authorize` allows to take the action. */
  const guarded = (action: AdminAction, ...takes: Takes) =>
    t.procedure.use(async (call) => {
      await guard.demand(action, takes, call);
      return call.next();
    });

  function known(name: string): TName {
    const found = names.find((each) => each === name);
    if (found === undefined) throw badRequest("There is no such rate limit");
    return found;
  }

  function actorOf(ctx: unknown): string | undefined {
    const by: unknown = admin?.actor?.({ ctx: ctx as TContext });
    return typeof by === "string" ? by : undefined;
  }

  function toActing(action: Exclude<OperatorAction, "plan">) {
    return ({ ctx, input }: { ctx: unknown; input: ActionInput }) =>
      throwingAdminErrors(async () => {
        const by = actorOf(ctx);
        return act({ operator, recorder }, action, { ...input, name: known(input.name) }, by);
      });
  }

  /**
   * The limits for an input without a name: the limits with plans of which the caller may give a plan.
   */
  async function plannedFor(
    ctx: unknown,
    { key, all }: { key?: string | undefined; all?: boolean | undefined },
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

  return t.router({
    /** The limits that the caller may view, and what the caller may do. */
    limits: guarded("view").query(({ ctx }) =>
      throwingAdminErrors(async (): Promise<AdminLimits<TName>> => {
        const [actions, shown] = await Promise.all([
          allowed(ACTIONS, (action) => guard.allows(ctx, action)),
          allowed(names, (name) => guard.allows(ctx, "view", { name })),
        ]);
        const { isHashed: hashed, clock } = operator;
        const limits = shown.map((name) => shownLimit(operator, name, limiter.limits[name]!));
        return { now: clock(), hashed, actions, limits };
      }),
    ),

    /** The keys of a limit, page by page. */
    list: guarded("view", "name")
      .input(schemas.list)
      .query(({ input: { name, denied = true, after, count = DEFAULT_ITEMS } }) =>
        throwingAdminErrors(async (): Promise<AdminPage> => {
          const page = await listItems(operator, limiter, known(name), { denied, after, count });
          const items = await withSince(operator, recorder, name, page.items);
          return { now: operator.clock(), ...page, items };
        }),
      ),

    /** One key under all limits that the caller may view for it. */
    key: guarded("view", "key")
      .input(schemas.key)
      .query(({ ctx, input }) =>
        throwingAdminErrors(async (): Promise<AdminKey<TName>> => {
          const shown = await allowed(names, (name) =>
            guard.allows(ctx, "view", { name, key: input?.key }),
          );
          const key = storedKeyOf(operator, input);
          const parts = { operator, limiter, recorder };
          const limits = await showKey(parts, shown, key, givenKeyOf(input));
          return { now: operator.clock(), ...keyOption(key), limits };
        }),
      ),

    /** How much of a limit was granted and denied over time, of all keys together. */
    usage: guarded("view", "name")
      .input(schemas.usage)
      .query(({ input: { name, ...span } }) =>
        throwingAdminErrors(() => showUsage(operator, limiter, recorder, known(name), span)),
      ),

    /** The newest denials of this process. */
    denials: guarded("view", "name")
      .input(schemas.denials)
      .query(({ ctx, input: { name, count = DEFAULT_ITEMS } = {} }) =>
        throwingAdminErrors(async (): Promise<AdminDenials<TName>> => {
          const shown =
            name === undefined
              ? await allowed(names, (each) => guard.allows(ctx, "view", { name: each }))
              : [known(name)];
          const { since, items } = recorder.denials(shown, count);
          return { now: operator.clock(), since, items: items.map(shownDenial) };
        }),
      ),

    /** Denies every call, for an hour if the caller does not say how long. */
    ban: guarded("ban", "name", "key").input(schemas.timed).mutation(toActing("ban")),

    /** Lets every call pass. */
    exempt: guarded("exempt", "name", "key").input(schemas.timed).mutation(toActing("exempt")),

    /** Gives a key `times` as many tokens as it has without the override. */
    raise: guarded("raise", "name", "key").input(schemas.raise).mutation(toActing("raise")),

    /** Puts a key on a plan, for one limit, or for all limits with plans. */
    plan: guarded("plan", "name", "key")
      .input(schemas.plan)
      .mutation(({ ctx, input: { name, ...input } }) =>
        throwingAdminErrors(async (): Promise<AdminPlanChange<TName>> => {
          const by = actorOf(ctx);
          const of = name === undefined ? await plannedFor(ctx, input) : [known(name)];
          return givePlan({ operator, recorder }, of, input, by);
        }),
      ),

    /** Ends a ban, an exemption, a raise or a plan. */
    clear: guarded("clear", "name", "key").input(schemas.target).mutation(toActing("clear")),

    /** Fills a bucket, and frees all slots. */
    reset: guarded("reset", "name", "key").input(schemas.target).mutation(toActing("reset")),
  });

  function shownDenial({ at, name, key, count, retryAfter }: Denial): AdminDenial<TName> {
    const stored = keyOption(operator.toStoredKey(key));
    return { at, name: name as TName, ...stored, count, retryAfter };
  }
}
