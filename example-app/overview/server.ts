/** A procedure with a limit, and nothing else. The procedure knows no database: the limiter has a store. */
import type { App } from "../shared/server/trpc.js";

export function overviewRouter({ t, rl }: Pick<App, "t" | "rl">) {
  return t.router({
    send: t.procedure
      .use(rl.rateLimited("sendHello"))
      .mutation(({ ctx }) => ({ left: ctx.rateLimit.value })),
  });
}
