/** Starts processes of callers, and compares their grants with the remaining rows. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { CallerMessage, CallerReport } from "./caller.js";
import { ask } from "./replication.js";
import type { OpenerName, PoolSettings } from "./stores.js";

const CALLER = fileURLToPath(new URL("caller.ts", import.meta.url));
const CALLERS = 4;

export interface Callers {
  /** Opens a store on a database in each process, and calls. */
  begin(url: string, settings?: PoolSettings): Promise<void>;
  granted(): Promise<number>;
  /** Resolves when each process has been granted this many more calls. */
  grantedMore(count: number): Promise<void>;
  /** Resolves when each process has seen this many more calls fail. */
  failedMore(count: number): Promise<void>;
  /** Notes that the database accepts writes again. */
  promoted(): void;
  /** Resolves when every caller has been granted a call since then. */
  resumed(): Promise<void>;
  /** Stops the calls, and compares the grants with the rows of a server. */
  stop(server: string): Promise<Outcome>;
  [Symbol.dispose](): void;
}

export interface Outcome {
  granted: number;
  failed: number;
  /** Grants whose tokens are in no row. */
  lost: number;
  /** Tokens that were taken by calls without an answer. */
  unanswered: number;
  /** By process: from the promotion to the grant for which its last caller has waited, ms. */
  resumedAfter: number[];
}

/** @param kinds of the stores, one for each process. */
export async function startCallers(kinds: readonly OpenerName[]): Promise<Callers> {
  let isEnding = false;
  let log = "";
  const children = kinds.map((kind) => {
    const child = fork(CALLER, [kind, String(CALLERS)], {
      execArgv: ["--import", "tsx"],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    child.stderr!.on("data", (chunk: Buffer) => (log += chunk.toString()));
    return child;
  });
  const crashed = Promise.race(
    children.map(async (child) => {
      const [code] = await once(child, "exit");
      if (isEnding) return new Promise<never>(() => {});
      throw new Error(`a process of callers exited with code ${code}. Its log:\n${log}`);
    }),
  );
  crashed.catch(() => {});
  async function tell(child: ChildProcess, message: CallerMessage): Promise<CallerReport> {
    const reported = once(child, "message");
    child.send(message);
    const [report] = (await Promise.race([reported, crashed])) as [CallerReport];
    return report;
  }
  const tellAll = (message: CallerMessage) =>
    Promise.all(children.map((child) => tell(child, message)));
  const reports = () => tellAll("report");
  async function untilAll(isEnough: (report: CallerReport, index: number) => boolean) {
    while (!(await reports()).every(isEnough)) await setTimeout(20);
  }
  let promotedAt = Infinity;

  return {
    begin: async (url, settings = {}) => void (await tellAll({ begin: url, settings })),
    granted: async () => sum(await reports(), grantedIn),
    async grantedMore(count) {
      const before = (await reports()).map(grantedIn);
      await untilAll((report, index) => grantedIn(report) >= before[index]! + count);
    },
    async failedMore(count) {
      const before = await reports();
      await untilAll(({ failed }, index) => failed >= before[index]!.failed + count);
    },
    promoted() {
      promotedAt = Number(process.hrtime.bigint()) / 1e6;
      for (const child of children) child.send({ promotedAt } satisfies CallerMessage);
    },
    resumed: () =>
      untilAll(({ firsts }) => firsts.length > 0 && firsts.every((at) => typeof at === "number")),
    async stop(server) {
      const last = await tellAll("stop");
      const rows = await ask(server, `SELECT "key", "used" FROM "RateLimit"`);
      const used = new Map(rows.map((row) => [String(row["key"]), Number(row["used"])]));
      const surpluses = Object.keys(last[0]!.granted).map(
        (key) => sum(last, ({ granted }) => granted[key]!) - (used.get(key) ?? 0),
      );
      return {
        granted: sum(last, grantedIn),
        failed: sum(last, ({ failed }) => failed),
        lost: sum(surpluses, (surplus) => Math.max(0, surplus)),
        unanswered: sum(surpluses, (surplus) => Math.max(0, -surplus)),
        resumedAfter: last.map(({ firsts }) =>
          Math.round(Math.max(...firsts.map((first) => first ?? Infinity)) - promotedAt),
        ),
      };
    },
    [Symbol.dispose]() {
      isEnding = true;
      for (const child of children) child.kill("SIGKILL");
    },
  };
}

function grantedIn({ granted }: CallerReport): number {
  return sum(Object.values(granted), (count) => count);
}

function sum<TItem>(items: readonly TItem[], of: (item: TItem) => number): number {
  return items.reduce((all, item) => all + of(item), 0);
}
