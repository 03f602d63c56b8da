/**
 * Two processes of the race. The processes start with a race, or just before it, and end when no race
 * comes.
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Racers } from "./racers.js";
import type { Result, Task, TaskName } from "./worker.js";

const WORKER = fileURLToPath(new URL("worker.ts", import.meta.url));
/** How long the processes stay without a race, ms. */
const IDLE = 60_000;
/** A task that takes longer has failed, ms. Its process is ended. */
const TIMEOUT = 30_000;

type Input<TName extends TaskName> = Parameters<Racers[TName]>[0];
type Value<TName extends TaskName> = Awaited<ReturnType<Racers[TName]>>;

export interface RaceProcess {
  pid: number;
  /** @throws Error if the task fails, takes too long, or the process ends. */
  run<TName extends TaskName>(name: TName, input: Input<TName>): Promise<Value<TName>>;
}

interface Started {
  process: Promise<RaceProcess>;
  /** Whether the process has ended, or could not start. */
  isOver: boolean;
  end(): void;
}

export type RaceProcesses = ReturnType<typeof createRaceProcesses>;

/** @param databaseUrl the URL of the server's database, which the processes open. */
export function createRaceProcesses(databaseUrl: () => string, idle: number = IDLE) {
  let started: Started[] = [];
  let timer: NodeJS.Timeout | undefined;

  function end(): void {
    for (const each of started) each.end();
    started = [];
  }

  /** Both processes, once they are ready. */
  async function both(): Promise<readonly RaceProcess[]> {
    clearTimeout(timer);
    timer = setTimeout(end, idle).unref();
    started = [0, 1].map((i) => {
      const known = started[i];
      return known && !known.isOver ? known : startProcess(databaseUrl());
    });
    return Promise.all(started.map((each) => each.process));
  }

  return {
    both,
    /**
     * Starts the processes, so that the first race need not wait. If they cannot start, that race says
     * so.
     */
    start(): void {
      both().catch(() => {});
    },
    end,
  };
}

function startProcess(databaseUrl: string): Started {
  const child = fork(WORKER, {
    // Bun runs TypeScript by itself.
    execArgv: process.versions["bun"] === undefined ? ["--import", "tsx"] : [],
    // Not an argument, because all users of a machine can read the arguments.
    env: { ...process.env, RACE_DATABASE: databaseUrl },
  });
  // The server ends without waiting for the process, which ends with the server.
  child.unref();
  child.channel?.unref();
  const started: Started = {
    process: untilReady(child),
    isOver: false,
    end: () => void child.kill("SIGKILL"),
  };
  started.process.catch(() => {});
  child.once("exit", () => (started.isOver = true));
  child.once("error", () => (started.isOver = true));
  return started;
}

async function untilReady(child: ChildProcess): Promise<RaceProcess> {
  const waiting = new Map<number, (result: Result) => void>();
  let id = 0;

  function wait<T>(of: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT).unref();
      waiting.set(of, (result) => {
        clearTimeout(timer);
        waiting.delete(of);
        if ("error" in result) reject(new Error(result.error));
        else resolve(result.value as T);
      });
    });
  }
  function fail(why: string): void {
    for (const [of, settle] of waiting) settle({ id: of, error: why });
  }

  child.on("message", (result: Result) => waiting.get(result.id)?.(result));
  child.once("exit", () => fail("A process of the race has ended"));
  child.once("error", (error) => fail(`A process of the race: ${error.message}`));
  await wait(id);
  return {
    pid: child.pid!,
    run(name, input) {
      const task: Task = { id: ++id, name, input };
      const result = wait<Value<typeof name>>(task.id);
      child.send(task, (error) => error && fail(error.message));
      return result;
    },
  };
}
