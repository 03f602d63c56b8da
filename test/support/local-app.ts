/** A real router and a client of it in one process, without HTTP, so that fake timers move both. */
import { createTRPCClient, type TRPCLink, unstable_localLink } from "@trpc/client";
import { rateLimitLink, type RateLimitLinkOptions } from "../../client/index.js";
import { HOUR } from "../../server/index.js";
import { createLimitedTRPC } from "./limited-trpc.js";

/** @param link the options of the client's `rateLimitLink`. */
export function startLocalApp(link: RateLimitLinkOptions<LocalRouter> = {}) {
  const { limiter, router } = createApp();
  const calls: string[] = [];
  const counting: TRPCLink<LocalRouter> =
    () =>
    ({ op, next }) => {
      calls.push(op.path);
      return next(op);
    };
  const client = createTRPCClient<LocalRouter>({
    links: [
      rateLimitLink(link),
      counting,
      unstable_localLink({ router, createContext: () => Promise.resolve({}) }),
    ],
  });
  return {
    limiter,
    client,
    /** How often this procedure was called since the last call of this function. */
    calls(path: string): number {
      const count = calls.filter((called) => called === path).length;
      calls.splice(0, calls.length, ...calls.filter((called) => called !== path));
      return count;
    },
  };
}

export type LocalRouter = ReturnType<typeof createApp>["router"];

function createApp() {
  const { limiter, t, rl } = createLimitedTRPC({
    send: { kind: "token bucket", rate: 1, period: HOUR, capacity: 5 },
    other: { kind: "fixed window", rate: 5, period: HOUR },
    late: { kind: "fixed window", rate: 5, period: HOUR },
  });
  const router = t.router({
    rateLimit: rl.router,
    send: t.procedure.use(rl.rateLimited("send")).mutation(({ ctx }) => ctx.rateLimit.value),
  });
  return { limiter, router };
}
