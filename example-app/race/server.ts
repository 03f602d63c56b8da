/**
 * Races of two limiters, in two processes of their own. The rows of a race are counted, and then deleted.
 */
import { randomUUID } from "node:crypto";
import { databaseOf } from "../shared/server/database.js";
import type { App } from "../shared/server/trpc.js";
import { callsProcedures } from "./calls-procedures.js";
import type { Tick } from "./make-calls.js";
import { createRaceProcesses, type RaceProcess, type RaceProcesses } from "./processes.js";
import type { Racer } from "./racers.js";
import { type Result, resultOf } from "./result.js";

/** @param processes started elsewhere. @default processes that start with the first race */
export function raceRouter(
  { t, rl, limiter, prisma }: App,
  processes: Pick<RaceProcesses, "both"> = createRaceProcesses(() => databaseOf(prisma).url),
) {
  let last: Promise<unknown> = Promise.resolve();

  /** One race at a time, because two would disturb each other's times. Each race has rows of its own. */
  function inTurn<T>(
    of: string,
    race: (key: string, both: readonly RaceProcess[]) => Promise<T>,
  ): Promise<T> {
    const result = last.then(async () => {
      const both = await processes.both();
      const key = `${of} ${randomUUID()}`;
      try {
        await both[0]!.run("begin", { key });
        return await race(key, both);
      } finally {
        await both[0]!.run("remove", { key });
      }
    });
    last = result.catch(() => {});
    return result;
  }

  return t.router({
    /** Starts the processes, if they do not run, so that a race need not wait for them. */
    processes: t.procedure.query(async () => {
      const both = await processes.both();
      return { pids: both.map(({ pid }) => pid), database: databaseOf(prisma).kind };
    }),

    ...callsProcedures({ t, rl, limiter }, (of, tick) =>
      inTurn(of, async (key, both) => ({
        naive: await resultFrom(both, { racer: "naive", key, tick }),
        package: await resultFrom(both, { racer: "package", key, tick }),
        database: databaseOf(prisma).kind,
      })),
    ),

    order: t.procedure.use(rl.rateLimited("runRace")).mutation(({ ctx }) =>
      inTurn(ctx.visitor, async (key, [one]) => {
        const naive = await one!.run("order", { racer: "naive", key });
        // Both limiters write their seats in one table, so delete the first one's seats.
        await one!.run("remove", { key });
        await one!.run("begin", { key });
        return { naive, package: await one!.run("order", { racer: "package", key }) };
      }),
    ),
  });
}

/** Both processes call at the same time. */
async function resultFrom(
  both: readonly RaceProcess[],
  input: { racer: Racer; key: string; tick: Tick },
): Promise<Result> {
  const callers = await Promise.all(
    both.map(async (each) => ({ pid: each.pid, calls: await each.run("call", input) })),
  );
  return resultOf(callers, await both[0]!.run("taken", input));
}
