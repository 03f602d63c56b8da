/** The procedures of a race over calls: for the visitor who starts one, and for those who arrive. */
import { z } from "zod";
import type { App } from "../shared/server/trpc.js";
import { FRESH } from "./limits.js";
import type { Tick } from "./make-calls.js";
import type { Race } from "./result.js";

export interface CallsApp extends Pick<App, "t" | "rl"> {
  limiter: Pick<App["limiter"], "limit">;
}

/** @param race makes the calls of both limiters. `of` tells the rows of different races apart. */
export function callsProcedures(
  { t, rl, limiter }: CallsApp,
  race: (of: string, tick: Tick) => Promise<Race>,
) {
  /** The last race that is over. */
  let last: Race | undefined;
  let latest: { at: number; race: Promise<Race> } | undefined;

  async function startForArrivals(): Promise<Race> {
    // Limit: a race that fails is not kept, so this limit bounds how often another race is tried.
    await limiter.limit("arrivalRace", { throws: true });
    return (last = await race("arrival", "same"));
  }

  /** One race for all visitors of this process who arrive in these seconds. */
  function raceOfTheseSeconds(): Promise<Race> {
    const now = Date.now();
    if (latest && now - latest.at < FRESH) return latest.race;
    const started = { at: now, race: startForArrivals() };
    started.race.catch(() => {
      if (latest === started) latest = undefined;
    });
    latest = started;
    return started.race;
  }

  return {
    /** What a page shows until the race of its own visitor is over. */
    last: t.procedure.query(() => last ?? null),

    arrival: t.procedure.query(() => raceOfTheseSeconds()),

    run: t.procedure
      .input(z.object({ tick: z.enum(["same", "each"]) }))
      // Limit: a race is work for the server.
      .use(rl.rateLimited("runRace"))
      .mutation(({ ctx, input: { tick } }) => race(ctx.visitor, tick)),
  };
}
