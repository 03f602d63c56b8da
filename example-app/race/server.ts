/** Races of two limiters, in two processes of their own. What they did is counted, and then deleted. */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { databaseOf } from "../shared/server/database.js";
import type { App } from "../shared/server/trpc.js";
import { createRaceProcesses, type RaceProcess } from "./processes.js";
import { ALLOWED } from "./limits.js";
import type { Calls, Outcome, Racer, Tick } from "./racers.js";

export function raceRouter({ t, rl, prisma }: App) {
  const processes = createRaceProcesses(() => databaseOf(prisma).url);
  let last: Promise<unknown> = Promise.resolve();

  /** One race at a time, because two would disturb each other's times. Each has rows of its own. */
  function inTurn<T>(
    visitor: string,
    race: (key: string, both: readonly RaceProcess[]) => Promise<T>,
  ): Promise<T> {
    const result = last.then(async () => {
      const both = await processes.both();
      const key = `${visitor} ${randomUUID()}`;
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
    /** Starts the processes, if there are none, so that a race need not wait for them. */
    processes: t.procedure.query(async () => {
      const both = await processes.both();
      return { pids: both.map(({ pid }) => pid), database: databaseOf(prisma).kind };
    }),

    run: t.procedure
      .input(z.object({ tick: z.enum(["same", "each"]) }))
      // Limit: a race is work for the server.
      .use(rl.rateLimited("runRace"))
      .mutation(({ ctx, input: { tick } }) =>
        inTurn(ctx.visitor, async (key, both) => {
          const naive = await raceOf(both, { racer: "naive", key, tick });
          return { naive, package: await raceOf(both, { racer: "package", key, tick }) };
        }),
      ),

    order: t.procedure.use(rl.rateLimited("runRace")).mutation(({ ctx }) =>
      inTurn(ctx.visitor, async (key, [one]) => {
        const naive = await one!.run("order", { racer: "naive", key });
        // Both write their seats in one table.
        await one!.run("remove", { key });
        await one!.run("begin", { key });
        return { naive, package: await one!.run("order", { racer: "package", key }) };
      }),
    ),
  });
}

/** Over: granted, although so many were granted before that none was left. */
export type Shown = Outcome | "over";

/** Both processes call at the same time. */
async function raceOf(
  both: readonly RaceProcess[],
  input: { racer: Racer; key: string; tick: Tick },
) {
  const calls = await Promise.all(both.map((process) => process.run("call", input)));
  const ends = calls.flatMap(({ answers }) => answers.map(({ at }) => at));
  const grants = calls
    .flatMap(({ answers }) => answers.filter(({ outcome }) => outcome === "granted"))
    .sort((a, b) => a.at - b.at);
  const over = new Set<Calls["answers"][number]>(grants.slice(ALLOWED));
  return {
    processes: calls.map(({ answers }, i) => ({
      pid: both[i]!.pid,
      outcomes: answers.map((answer): Shown => (over.has(answer) ? "over" : answer.outcome)),
    })),
    granted: grants.length,
    /** From the first call to the last answer. */
    ms: Math.max(...ends) - Math.min(...calls.map(({ startedAt }) => startedAt)),
    /** How many tokens its row says are taken. */
    taken: await both[0]!.run("taken", input),
  };
}
