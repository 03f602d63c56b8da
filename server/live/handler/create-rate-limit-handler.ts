/** Limits over HTTP for clients, without tRPC: one URL that each host of `fetch` can serve. */
import { SHARED_BUCKET } from "../../limiter/types/key-answer.js";
import type { LimitConfigs } from "../../limiter/types/names.js";
import type { PlanBy, PlanName } from "../../limiter/types/plan-types.js";
import { LiveInputs } from "../live-inputs.js";
import { LiveLimits, type LiveLimitsOptions } from "../live-limits.js";
import type { SaysPlanOfRequest } from "../live-options.js";
import { createPlanFor } from "../plan-for-caller.js";
import { answerOf, json, jsonOf } from "./answers.js";
import { eventStream } from "./event-stream.js";
import {
  checkedHandlerOptions,
  type HandlerCaller,
  type RateLimitHandlerOptions,
} from "./handler-options.js";
import { readRequest } from "./read-request.js";

/** A handler of `createRateLimitHandler`: the hosts of `fetch` call it with a request. */
export interface RateLimitHandler<TLimits, TArgs extends unknown[] = []> {
  (request: Request, ...args: TArgs): Promise<Response>;
  /** The limits that clients may know, as the limiter has them. Pages infer their names from this. */
  readonly limits: TLimits;
}

/**
 * A handler that tells clients about limits, for `createRateLimitReact` and `createRateLimitObserver` of
 * `trpc-rate-limit/fetch`. Serve it at one URL for `GET` and `POST`. A caller may read a limit if `key`
 * returns a key. `toNodeHandler` makes a handler of Express, Fastify and Node.js of it.
 *
 * | request | answer |
 * | --- | --- |
 * | `GET ?action=status&name=sendMessage` | the snapshot of the limit; also with `key` and `count` |
 * | `GET ?action=status&items=[{"name":"sendMessage"}]` | a list of at most 100 answers |
 * | `GET ?action=check&name=sendMessage` | what `limiter.check` answers |
 * | `GET ?action=watch&items=[{"name":"sendMessage"}]` | server-sent events, each with a snapshot |
 * | `POST {"action":"limit","name":"sendMessage"}` | what `limiter.limit` answers, if `authorize` allows it |
 * | `POST {"action":"reset","name":"sendMessage"}` | 204, if `authorize` allows it |
 *
 * A request that is refused is answered with 400, 403, 405, 409, 413 or 415, and 503 while the store
 * fails; its JSON has `code` and `message`. Other errors, such as those of `key`, are thrown.
 *
 * @throws RateLimitConfigError when the limiter has no named limits, when neither an option nor the
 * limiter says the plan of limits with plans, and for an option that is unknown or out of its bounds.
 *
 * @example
 * // app/api/limits/route.ts of an application of Next
 * import { createRateLimitHandler } from "trpc-rate-limit/server";
 *
 * const handler = createRateLimitHandler({
 *   limiter,
 *   key: ({ request }) => userOf(request),
 * });
 * export { handler as GET, handler as POST };
 */
export function createRateLimitHandler<
  TLimits extends LimitConfigs,
  TTransaction,
  TExposed extends keyof TLimits & string = keyof TLimits & string,
  TBy extends PlanBy = "call",
  TContext = undefined,
  TArgs extends unknown[] = [],
>(
  options: RateLimitHandlerOptions<TLimits, TTransaction, TBy, TExposed, TContext, TArgs> &
    SaysPlanOfRequest<
      TLimits,
      TBy,
      (options: never) => PlanName<TLimits> | Promise<PlanName<TLimits>>
    >,
): RateLimitHandler<Pick<TLimits, TExposed>, TArgs> {
  const { exposed, heartbeat, ...ofStreams } = checkedHandlerOptions(options);
  // A copy, because the caller may change the object later.
  const { limiter, context, key, plan, authorize } = options;
  type Caller = HandlerCaller<TContext>;
  const names = exposed as readonly TExposed[];
  const inputs = new LiveInputs(names);
  const live = new LiveLimits<Caller, TExposed>({
    ...ofStreams,
    // The names of the limits are only known to its user.
    limiter: limiter as unknown as LiveLimitsOptions<Caller, TExposed>["limiter"],
    names,
    resolver: ({ ctx, ...asked }) =>
      typeof key === "function" ? key({ ...ctx, ...asked }) : SHARED_BUCKET,
    planFor: createPlanFor(
      typeof plan === "function"
        ? ({ ctx, ...asked }) => plan({ ...(ctx as Caller), ...asked } as never)
        : plan,
      limiter,
      "createRateLimitHandler()",
    ),
    authorize: authorize && (({ ctx, ...asked }) => authorize({ ...ctx, ...asked })),
  });

  async function answer(request: Request, args: TArgs): Promise<Response> {
    const asked = await readRequest(request, inputs);
    const ctx = (await context?.(request, ...args)) as TContext;
    const caller: Caller = { request, ctx };
    if (asked.action === "status") {
      if (!asked.isList) return json(await live.status(caller, asked.items[0]!));
      const answers = asked.items.map((item) =>
        live.status(caller, item).then((snapshot) => ({ snapshot }), jsonOf),
      );
      return json(await Promise.all(answers));
    }
    if (asked.action === "check") return json(await live.check(caller, asked.item));
    if (asked.action === "limit") return json(await live.limit(caller, asked.item));
    if (asked.action === "reset") {
      await live.reset(caller, asked.item);
      return new Response(null, { status: 204 });
    }
    return eventStream((signal) => live.watch(caller, asked, signal), {
      id: asked.stream,
      heartbeat,
      signal: request.signal,
    });
  }

  const handler = (request: Request, ...args: TArgs) =>
    answer(request, args).catch((error: unknown) => answerOf(error));
  const shown = names.map((name) => [name, limiter.limits[name]]);
  return Object.assign(handler, {
    limits: Object.fromEntries(shown) as Pick<TLimits, TExposed>,
  });
}
