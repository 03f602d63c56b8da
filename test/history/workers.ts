/** Several worker processes on one database, and the history that they make together. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { StoreKind } from "../support/open-store.js";
import type { Operation } from "./operation.js";

const WORKER = fileURLToPath(new URL("worker.ts", import.meta.url));

export interface WorkersOptions {
  kind: StoreKind;
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
  /** Kills a process in the middle of what it does, and starts another one in its place. */
  replace(index: number): Promise<void>;
  /** Ends them after the operations that are under way. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts the processes, and lets them begin when all are ready. */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const { kind, url, callers, timeout = 30_000, isolation = "" } = options;
  const history: Operation[] = [];
  const checks = new Set<() => void>();
  const origin = String(process.hrtime.bigint());
  const crashes: Promise<never>[] = [];
  let stopping = false;
  let started = 0;
  /** What has begun and not ended, by process and number. */
  const open = new Map<string, Operation>();
  const killed = new Set<ChildProcess>();

  async function start(atOnce: number): Promise<ChildProcess> {
    const number = ++started;
    const args = [kind, url, number, atOnce, timeout, origin, isolation].map(String);
    const child = spawn(process.execPath, ["--import", "tsx", WORKER, ...args]);
    let log = "";
    child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
    const crash = once(child, "exit").then(([code]) => {
      if ((stopping && code === 0) || killed.has(child)) return new Promise<never>(() => {});
      throw new Error(`process ${number} ended with ${code}:\n${log}`);
    });
    crash.catch(() => {});
    crashes.push(crash);
    const lines = createInterface(child.stdout);
    await Promise.race([once(lines, "line"), crash]);
    lines.on("line", (line) => {
      const { id, ended, operation } = parse(line);
      const name = `${operation.process} ${id}`;
      if (!ended) return void open.set(name, operation);
      open.delete(name);
      history.push(operation);
      for (const check of checks) check();
    });
    return child;
  }

  const children = await Promise.all(callers.map((atOnce) => start(atOnce)));
  /** Of the processes that run, as they name themselves. */
  const numbers = children.map((_, index) => String(index + 1));
  for (const child of children) child.stdin!.write("begin\n");

  /** Resolves when so many more such operations have ended in all, and `each` in each process. */
  function more(
    total: number,
    each: number,
    counts: (operation: Operation) => boolean,
  ): Promise<void> {
    let seen = history.length;
    let left = total;
    const answers = new Map<string, number>();
    const reached = new Promise<void>((resolve) => {
      const check = () => {
        for (; seen < history.length; seen++) {
          const operation = history[seen]!;
          if (!counts(operation)) continue;
          left--;
          answers.set(operation.process, (answers.get(operation.process) ?? 0) + 1);
        }
        const lacks = numbers.some((number) => (answers.get(number) ?? 0) < each);
        if (left > 0 || lacks) return;
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
    async replace(index) {
      const child = children[index]!;
      killed.add(child);
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
      // What it had begun may have taken effect, or may yet.
      for (const [name, operation] of open) {
        if (operation.process !== numbers[index]) continue;
        open.delete(name);
        history.push(operation);
      }
      children[index] = await start(callers[index]!);
      numbers[index] = String(started);
      children[index].stdin!.write("begin\n");
    },
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
function parse(line: string): { id: number; ended: boolean; operation: Operation } {
  const { id, ended, ...rest } = JSON.parse(line) as Operation & {
    id: number;
    ended?: boolean;
    end: number | null;
  };
  const operation = { ...rest, end: rest.end ?? Infinity, answer: rest.answer ?? undefined };
  return { id, ended: ended ?? false, operation };
}
