/** A limiter with the admin router, and an operator who may do everything. */
import { initTRPC } from "@trpc/server";
import { onTestFinished } from "vitest";
import {
  createRateLimiter,
  type DecisionEvent,
  type LimitConfigs,
  memoryStore,
  type RateLimiterOptions,
  type RateLimitStore,
} from "../../server/index.js";
import { createManualClock } from "../../testing/index.js";
import {
  createRateLimitTRPC,
  type RateLimitAdminOptions,
  SHARED_BUCKET,
} from "../../server/trpc/index.js";
import type { OpenOptions, OpenStore } from "./stores.js";

interface Context {
  user: string;
}

type Options = Partial<Omit<RateLimiterOptions<LimitConfigs>, "store" | "limits">> & {
  /** @default everything is allowed */
  authorize?: RateLimitAdminOptions<Context, string>["authorize"];
  /** @default the user of the context */
  actor?: RateLimitAdminOptions<Context, string>["actor"];
  /** @default each call names its plan */
  plan?: (of: { key: string | undefined; name: string }) => string | Promise<string>;
};

export function openAdmin<const TLimits extends LimitConfigs>(
  store: RateLimitStore,
  limits: TLimits,
  { authorize = () => true, actor = ({ ctx }) => ctx.user, ...options }: Options = {},
) {
  const heard: DecisionEvent[] = [];
  const limiter = createRateLimiter<TLimits, unknown>({
    store,
    limits: limits as never,
    overrides: true,
    onDecision: (event) => void heard.push(event),
    // With `waitUntil`, the limiter does not try for ever to write usage after the test has closed its
    // database.
    waitUntil() {},
    ...(options as object),
  });
  const t = initTRPC.context<Context>().create();
  const { plans = [], plan } = options;
  const rl = createRateLimitTRPC<Context, object, TLimits, unknown>({
    t,
    limiter,
    key: SHARED_BUCKET,
    admin: { authorize, actor },
    // A plan for pages, which no test of operators opens.
    ...(plans.length > 0 && plan === undefined && { plan: () => plans[0]! }),
  } as never);
  const admin = t.router({ rateLimitAdmin: rl.admin }).createCaller({ user: "operator" });
  return { limiter, heard, admin: admin.rateLimitAdmin };
}

/**
 * The same on a store of each kind, until the end of the test. Nothing else is in its tables, since usage may
 * still be written at the end.
 */
export async function openAdminOn<const TLimits extends LimitConfigs>(
  open: (options: OpenOptions) => Promise<OpenStore>,
  limits: TLimits,
  options?: Options,
) {
  const opened = await open({ isNew: true });
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return openAdmin(opened.store, limits, options);
}

/** The same in memory, with a clock that the test moves. */
export function openAdminAt<const TLimits extends LimitConfigs>(
  start: number,
  limits: TLimits,
  options: Options = {},
) {
  const clock = createManualClock(start);
  const store = memoryStore();
  return { clock, store, ...openAdmin(store, limits, { clock, ...options }) };
}

/** The answer as a client without a transformer receives it. */
export function asJson<TAnswer>(answer: TAnswer): TAnswer {
  return JSON.parse(JSON.stringify(answer)) as TAnswer;
}
