/**
 * The server of the site, in a web worker: the demo's own routers on a limiter in memory. Its only
 * visitor is the one whose tabs share the worker.
 */
import { createRateLimiter, memoryStore } from "trpc-rate-limit/server";
import { createRateLimitTRPC, formatRateLimitError } from "trpc-rate-limit/trpc";
import { initTRPC } from "@trpc/server";
import { PLANS } from "../../example-app/model/limits.js";
import { overviewRouter } from "../../example-app/overview/server.js";
import { playgroundRouter } from "../../example-app/playground/server.js";
import { callsProcedures } from "../../example-app/race/calls-procedures.js";
import { raceLimits } from "../../example-app/race/limits.js";
import { LIMITS } from "../../example-app/shared/server/limiter.js";
import type { Context } from "../../example-app/shared/server/trpc.js";
import { farStore, raceInMemory } from "./races.js";

/** The context of each call of this page. */
export const CONTEXT: Context = { visitor: "you", process: 1 };

export function createSiteRouter() {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: LIMITS,
    plans: PLANS,
    plan: () => "free",
    overrides: true,
  });
  // As late as the table of the other side, so that the race is the same for both.
  const racer = createRateLimiter({ store: farStore(memoryStore()), limits: raceLimits });
  const t = initTRPC.context<Context>().create({
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
  });
  const rl = createRateLimitTRPC({
    t,
    limiter,
    key: ({ ctx }) => ctx.visitor,
  });
  return t.router({
    rateLimit: rl.router,
    overview: overviewRouter({ t, rl }),
    race: t.router(
      callsProcedures({ t, rl, limiter }, (of, tick) => raceInMemory(racer, of, tick)),
    ),
    playground: playgroundRouter({ t, rl, limiter }),
  });
}
