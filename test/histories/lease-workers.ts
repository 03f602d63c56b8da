/** Starts processes with leases on one database, disturbs them, and collects what they did. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { RecordedEvent } from "./lease-caller.js";
import type { ClockFault, LeaseWorkerOptions } from "./lease-worker.js";

export interface LeaseWorkersOptions {
  file: string;
  url: string;
  processes: number;
  /** By process. */
  clocks?: readonly (ClockFault | undefined)[] | undefined;
  /** @default 2000 */
  timeout?: number;
}

export interface LeaseWorkers {
  events: RecordedEvent[];
  /** Kills a process at once, and starts another one. */
  replace(index: number): Promise<void>;
  /** Stops a process for so many ms. */
  pause(index: number, ms: number): Promise<void>;
  /** Ends the processes. Rejects if one of them has failed. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startLeaseWorkers({
  file,
  url,
  processes,
  clocks = [],
  timeout = 2000,
}: LeaseWorkersOptions): Promise<LeaseWorkers> {
  const events: RecordedEvent[] = [];
  const killed = new Set<ChildProcess>();
  const failures: string[] = [];
  let seed = 0;
  let isStopping = false;

  async function start(index: number): Promise<ChildProcess> {
    const clock = clocks[index];
    const options: LeaseWorkerOptions = { url, seed: ++seed, processes, clock, timeout };
    const child = spawn(process.execPath, [file, JSON.stringify(options)]);
    let log = "";
    child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
    child.once("close", (code) => {
      if (killed.has(child) || (isStopping && code === 0)) return;
      failures.push(`process ${index} ended with ${code}: ${log}`);
    });
    const lines = createInterface(child.stdout);
    await Promise.race([once(lines, "line"), once(child, "close")]);
    if (failures.length > 0) throw new Error(failures.join("\n"));
    const known = new Map<number, RecordedEvent>();
    lines.on("line", (line) => {
      const [id, name, key, kind, count, begun, end] = JSON.parse(line) as [
        number,
        RecordedEvent["name"],
        RecordedEvent["key"],
        RecordedEvent["kind"],
        number,
        number,
        number | null,
      ];
      const before = known.get(id);
      known.delete(id);
      if (before !== undefined) return void (before.end = end!);
      const event = { name, key, kind, count, start: begun, end: end ?? Infinity };
      events.push(event);
      if (end === null) known.set(id, event);
    });
    return child;
  }

  const children = await Promise.all(Array.from({ length: processes }, (_, i) => start(i)));
  for (const child of children) child.stdin!.write("begin\n");

  return {
    events,
    async replace(index) {
      const child = children[index]!;
      killed.add(child);
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
      children[index] = await start(index);
      children[index].stdin!.write("begin\n");
    },
    async pause(index, ms) {
      const child = children[index]!;
      child.kill("SIGSTOP");
      await new Promise((resolve) => setTimeout(resolve, ms));
      child.kill("SIGCONT");
    },
    async stop() {
      isStopping = true;
      const ends = children
        .filter(({ exitCode }) => exitCode === null)
        .map((child) => once(child, "close"));
      for (const child of children) child.stdin!.end();
      await Promise.all(ends);
      if (failures.length > 0) throw new Error(failures.join("\n"));
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) {
        killed.add(child);
        child.kill("SIGKILL");
      }
    },
  };
}
