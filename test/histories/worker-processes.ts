/** Starts processes of one program, disturbs them, and reads the lines that they print. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export interface WorkerProcessesOptions {
  /**
   * A program that prints a line when it is ready, begins at its first input, and stops at the end of its
   * input.
   */
  file: string;
  processes: number;
  /** The argument of a process, by its place and by the number of processes started so far. */
  argumentOf(index: number, seed: number): unknown;
  /** Reads the lines of one process. */
  reader(): (line: string) => void;
}

export interface WorkerProcesses {
  /** Kills a process at once, and starts another process in its place. */
  replace(index: number): Promise<void>;
  /** Stops a process for `ms`. */
  pause(index: number, ms: number): Promise<void>;
  /** Ends the processes. Rejects if a process has failed. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startWorkerProcesses({
  file,
  processes,
  argumentOf,
  reader,
}: WorkerProcessesOptions): Promise<WorkerProcesses> {
  const killed = new Set<ChildProcess>();
  const failures: string[] = [];
  let seed = 0;
  let isStopping = false;

  async function start(index: number): Promise<ChildProcess> {
    const child = spawn(process.execPath, [file, JSON.stringify(argumentOf(index, ++seed))]);
    let log = "";
    child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
    child.once("close", (code) => {
      if (killed.has(child) || (isStopping && code === 0)) return;
      failures.push(`process ${index} ended with ${code}: ${log}`);
    });
    const lines = createInterface(child.stdout);
    await Promise.race([once(lines, "line"), once(child, "close")]);
    if (failures.length > 0) throw new Error(failures.join("\n"));
    lines.on("line", reader());
    return child;
  }

  const children = await Promise.all(Array.from({ length: processes }, (_, i) => start(i)));
  for (const child of children) child.stdin!.write("begin\n");

  return {
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
