/**
 * A process of callers that take tokens without a pause, and count their grants. One process serves
 * several tests, because its start takes seconds. The process obeys each `CallerMessage`, and answers
 * each of them except `promotedAt` with a `CallerReport`.
 *
 * Arguments: the kind of store, the number of callers.
 */
import { setTimeout } from "node:timers/promises";
import { createRateLimiter } from "../../server/index.js";
import { open, type OpenerName, type PoolSettings } from "./stores.js";
import { KEYS, limits } from "./tokens.js";

export interface CallerReport {
  /** Tokens granted since the begin, by key. */
  granted: Record<string, number>;
  /** Calls that failed. */
  failed: number;
  /**
   * For each caller, when a call that began after the promotion was granted first, ms of the
   * monotonic clock of this machine. Missing until then.
   */
  firsts: (number | undefined)[];
}

export type CallerMessage =
  /** Opens a store on a database, and calls. */
  | { begin: string; settings: PoolSettings }
  /** The database has accepted writes again since then. */
  | { promotedAt: number }
  | "report"
  /** Stops after the calls in flight, and then closes the store. */
  | "stop";

const [kind, callers = ""] = process.argv.slice(2);
const now = () => Number(process.hrtime.bigint()) / 1e6;

function begin(url: string, settings: PoolSettings) {
  const { store, close } = open(kind as OpenerName, url, settings);
  const limiter = createRateLimiter({ store, limits, logger: false, timeout: 1000 });
  const granted: Record<string, number> = Object.fromEntries(KEYS.map((key) => [key, 0]));
  let failed = 0;
  let promotedAt = Infinity;
  let firsts: CallerReport["firsts"] = [];
  let isStopped = false;

  async function call(caller: number): Promise<void> {
    for (let turn = caller; !isStopped; turn++) {
      const key = KEYS[turn % KEYS.length]!;
      const begun = now();
      try {
        const { ok } = await limiter.limit("tokens", { key });
        if (ok) granted[key]!++;
        if (begun > promotedAt) firsts[caller] ??= now();
        await setTimeout(2);
      } catch {
        failed++;
        await setTimeout(10);
      }
    }
  }

  const calling = Array.from({ length: Number(callers) }, (_, caller) => call(caller));
  return {
    report: (): CallerReport => ({ granted, failed, firsts }),
    promoted(at: number) {
      promotedAt = at;
      firsts = calling.map(() => undefined);
    },
    async stop() {
      isStopped = true;
      await Promise.all(calling);
      // A connection to a frozen server never ends.
      close().catch(() => {});
    },
  };
}

let run: ReturnType<typeof begin> | undefined;
const report = () => process.send!(run!.report());
process.on("message", (message: CallerMessage) => {
  if (message === "stop") run!.stop().then(report, report);
  else if (message === "report") report();
  else if ("promotedAt" in message) run!.promoted(message.promotedAt);
  else {
    run = begin(message.begin, message.settings);
    report();
  }
});
