/** Starts several worker processes on one database and collects their common history. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { HOUR } from "../../server/index.js";
import { bundleProgram } from "../support/bundle-program.js";
import type { StoreKind } from "../support/open-store.js";
import type { Operation } from "./operation.js";

export interface WorkersOptions {
  kind: StoreKind;
  /** The URL of the database. A list has a URL for each process. */
  url: string | readonly string[];
  isolation?: "serializable" | undefined;
  /** For each process, the number of operations in flight at once. */
  callers: readonly number[];
  /**
   * How far the clock of each process jumps to and fro, ms. Limits then go by the store's clock.
   * @default a frozen clock that all processes share
   */
  skews?: readonly number[];
  /** The limiters' `timeout`, ms. @default 30_000 */
  timeout?: number;
}

export interface Workers {
  history: Operation[];
  /** Resolves after `count` more answers in all and at least 3 in each process. */
  answered(count: number): Promise<void>;
  /** Resolves after one more failed call in total, and this many in each process. @default 1 */
  failed(perProcess?: number): Promise<void>;
  /** Kills a process and starts another one in its place. */
  replace(index: number): Promise<void>;
  /** Stops the processes after the operations in flight. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts the processes. The processes begin to call when all processes are ready. */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const { kind, url, callers, skews, timeout = 30_000, isolation = "" } = options;
  const program = await bundleProgram(new URL("worker.ts", import.meta.url));
  const history: Operation[] = [];
  /** Half an hour ago, so that the window ends half an hour from now. */
  const windowStart = Date.now() - HOUR / 2;
  const checks = new Set<() => void>();
  const origin = String(process.hrtime.bigint());
  const crashes: Promise<never>[] = [];
  let isStopping = false;
  let started = 0;
  /** The operations that have begun but not ended, by process and id. */
  const inFlight = new Map<string, Operation>();
  const killed = new Set<ChildProcess>();

  async function start(concurrency: number, index: number): Promise<ChildProcess> {
    const number = ++started;
    const skew = skews?.[index] ?? "";
    const args = [
      kind,
      typeof url === "string" ? url : url[index],
      number,
      concurrency,
      timeout,
      origin,
      isolation,
      skew,
      windowStart,
    ].map(String);
    const child = spawn(process.execPath, [program, ...args]);
    let log = "";
    child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
    const crash = once(child, "exit").then(([code]) => {
      if ((isStopping && code === 0) || killed.has(child)) return new Promise<never>(() => {});
      throw new Error(`worker process ${number} exited with code ${code}. Its log:\n${log}`);
    });
    crash.catch(() => {});
    crashes.push(crash);
    const lines = createInterface(child.stdout);
    await Promise.race([once(lines, "line"), crash]);
    lines.on("line", (line) => {
      const { id, ended, operation } = parse(line);
      const name = `${operation.process} ${id}`;
      if (!ended) return void inFlight.set(name, operation);
      inFlight.delete(name);
      history.push(operation);
      for (const check of checks) check();
    });
    return child;
  }

  const children = await Promise.all(callers.map(start));
  /** The numbers of the running processes. */
  const numbers = children.map((_, index) => String(index + 1));
  for (const child of children) child.stdin!.write("begin\n");

  /** Resolves after `total` more operations that match, and at least `perProcess` in each process. */
  function waitForMore(
    total: number,
    perProcess: number,
    matches: (operation: Operation) => boolean,
  ): Promise<void> {
    let seen = history.length;
    let missing = total;
    const answers = new Map<string, number>();
    const reached = new Promise<void>((resolve) => {
      const check = () => {
        for (; seen < history.length; seen++) {
          const operation = history[seen]!;
          if (!matches(operation)) continue;
          missing--;
          answers.set(operation.process, (answers.get(operation.process) ?? 0) + 1);
        }
        const isBehind = (number: string) => (answers.get(number) ?? 0) < perProcess;
        if (missing > 0 || numbers.some(isBehind)) return;
        checks.delete(check);
        resolve();
      };
      checks.add(check);
    });
    return Promise.race([reached, ...crashes]);
  }

  return {
    history,
    answered: (count) => waitForMore(count, 3, ({ answer }) => answer !== undefined),
    failed: (perProcess = 1) => waitForMore(1, perProcess, ({ answer }) => answer === undefined),
    async replace(index) {
      const child = children[index]!;
      killed.add(child);
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
      // The killed process's operations in flight may have taken effect, or may still do so.
      for (const [name, operation] of inFlight) {
        if (operation.process !== numbers[index]) continue;
        inFlight.delete(name);
        history.push(operation);
      }
      children[index] = await start(callers[index]!, index);
      numbers[index] = String(started);
      children[index].stdin!.write("begin\n");
    },
    async stop() {
      isStopping = true;
      const ends = Promise.all(children.map((child) => once(child, "close")));
      for (const child of children) child.stdin!.end();
      await Promise.race([ends, ...crashes]);
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) child.kill("SIGKILL");
    },
  };
}

/** Restores `Infinity`, which JSON turns into null, and `undefined`, which JSON leaves out. */
function parse(line: string): { id: number; ended: boolean; operation: Operation } {
  const { id, ended, ...rest } = JSON.parse(line) as Operation & {
    id: number;
    ended?: boolean;
    end: number | null;
  };
  const operation = { ...rest, end: rest.end ?? Infinity, answer: rest.answer ?? undefined };
  return { id, ended: ended ?? false, operation };
}
