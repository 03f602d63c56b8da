/** A process of the race. The server starts it, sends it tasks, and reads their results. */
import { randomUUID } from "node:crypto";
import { databaseOf, openDatabase } from "../shared/server/database.js";
import { farAway } from "./far.js";
import { createRacers, type Racers } from "./racers.js";

export type TaskName = keyof Racers;
export interface Task {
  id: number;
  name: TaskName;
  input: unknown;
}
/** A result with id 0 says that the process is ready. */
export type Result = { id: number; value: unknown } | { id: number; error: string };

/** ms. This process does nothing else, so it can wait while another process writes. */
const BUSY_TIMEOUT = 5_000;

/** The server is gone, perhaps without having had time to end this process. */
const end = () => process.exit();
process.once("disconnect", end);

function send(result: Result): void {
  // The server may also have ended while this process was starting.
  if (process.connected) process.send!(result, undefined, undefined, (error) => error && end());
  else end();
}

// Ctrl-C goes to all processes of a terminal. The server decides when this process ends.
process.on("SIGINT", () => {});

const prisma = await openDatabase(process.env["RACE_DATABASE"]!, BUSY_TIMEOUT);
const isNear = databaseOf(prisma).kind === "SQLite";
const racers = createRacers(isNear ? farAway(prisma) : prisma);
await warmUp();
process.on("message", ({ id, name, input }: Task) => {
  const task = racers[name].bind(racers) as (input: unknown) => Promise<unknown>;
  task(input).then(
    (value) => send({ id, value }),
    (error: unknown) => send({ id, error: String(error) }),
  );
});
send({ id: 0, value: undefined });

/** Connects, and runs both limiters once, so that no race has to prepare their statements. */
async function warmUp(): Promise<void> {
  const key = `warm up ${randomUUID()}`;
  await racers.tidy();
  await racers.begin({ key });
  for (const racer of ["naive", "package"] as const)
    await racers.call({ racer, key, tick: "same" });
  await racers.remove({ key });
}
