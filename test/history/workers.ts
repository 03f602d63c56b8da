/** Several worker processes on one database, and the history that they make together. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Provider } from "../support/clients.js";
import type { Operation } from "./operation.js";

const WORKER = fileURLToPath(new URL("worker.ts", import.meta.url));

export interface WorkersOptions {
  provider: Provider;
  url: string;
  isolation?: "serializable" | undefined;
  /** For each process, how many operations it has under way at once. */
  callers: readonly number[];
  /** The limiters' `timeout`, ms. @default 30_000 */
  timeout?: number;
}

export interface Workers {
  history: Operation[];
  /** Resolves after so many more answers in all, a few of them to each process. */
  answered(count: number): Promise<void>;
  /** Resolves when every process has failed once more. */
  failed(): Promise<void>;
  /** Ends them after the operations that are under way. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts the processes, and lets them begin when all are ready. */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const { provider, url, callers, timeout = 30_000, isolation = "" } = options;
  const history: Operation[] = [];
  const checks = new Set<() => void>();
  const origin = String(process.hrtime.bigint());
  const crashes: Promise<never>[] = [];
  let stopping = false;

  async function start(atOnce: number, index: number): Promise<ChildProcess> {
    const number = index + 1;
    const args = [provider, url, number, atOnce, timeout, origin, isolation].map(String);
    const child = spawn(process.execPath, ["--import", "tsx", WORKER, ...args]);
    let log = "";
    child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
    const crash = once(child, "exit").then(([code]) => {
      if (stopping && code === 0) return new Promise<never>(() => {});
      throw new Error(`process ${number} ended with ${code}:\n${log}`);
    });
    crash.catch(() => {});
    crashes.push(crash);
    const lines = createInterface(child.stdout);
    await Promise.race([once(lines, "line"), crash]);
    lines.on("line", (line) => {
      history.push(parse(line));
      for (const check of checks) check();
    });
    return child;
  }

  const children = await Promise.all(callers.map(start));
  for (const child of children) child.stdin!.write("begin\n");

  /** Resolves when so many more such operations have ended in all, and `each` in each process. */
  function more(
    total: number,
    each: number,
    counts: (operation: Operation) => boolean,
  ): Promise<void> {
    let seen = history.length;
    let left = total;
    const lacking = children.map(() => each);
    const reached = new Promise<void>((resolve) => {
      const check = () => {
        for (; seen < history.length; seen++) {
          const operation = history[seen]!;
          if (!counts(operation)) continue;
          left--;
          lacking[Number(operation.process) - 1]!--;
        }
        if (left > 0 || lacking.some((lack) => lack > 0)) return;
        checks.delete(check);
        resolve();
      };
      checks.add(check);
    });
    return Promise.race([reached, ...crashes]);
  }

  return {
    history,
    answered: (count) => more(count, 3, ({ answer }) => answer !== undefined),
    failed: () => more(1, 1, ({ answer }) => answer === undefined),
    async stop() {
      stopping = true;
      const ends = Promise.all(children.map((child) => once(child, "close")));
      for (const child of children) child.stdin!.end();
      await Promise.race([ends, ...crashes]);
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) child.kill("SIGKILL");
    },
  };
}

/** JSON has no `Infinity`, and leaves out what is `undefined`. */
function parse(line: string): Operation {
  const operation = JSON.parse(line) as Operation & { end: number | null };
  return { ...operation, end: operation.end ?? Infinity, answer: operation.answer ?? undefined };
}
