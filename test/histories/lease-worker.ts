/**
 * A process that calls limits with leases, and prints each event as a line of JSON. The process starts at
 * the first input, and stops at the end of its input. Its one argument contains its options.
 */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { createRateLimiter, mysqlStore, pgStore, type RateLimitStore } from "../../server/index.js";
import { createRandom } from "../simulation/random.js";
import { LeaseCaller, type RecordedEvent, USES } from "./lease-caller.js";
import { LEASED, LIMITS, NAMES } from "./lease-limits.js";
import { reportClockError } from "./report-clock-error.js";

/** The faults of a process's clocks. */
export type ClockFault =
  /** The clock is an hour ahead, or behind. */
  | "ahead"
  | "behind"
  /** The clock jumps by an hour at any reading. */
  | "jumping"
  /** The clock is set by an hour now and then. */
  | "set"
  /** The machine sleeps now and then: its monotonic clock stands still meanwhile. */
  | "sleeping";

export interface LeaseWorkerOptions {
  url: string;
  seed: number;
  processes: number;
  clock: ClockFault | undefined;
  /** The limiter's `timeout`, ms. */
  timeout: number;
}

const HOUR = 3_600_000;
const { url, seed, processes, clock, timeout } = JSON.parse(process.argv[2]!) as LeaseWorkerOptions;
const random = createRandom(seed);
const trueNow = Date.now;
breakClock(clock);

const { store, query } = await open();
const limiter = createRateLimiter({ store, limits: LIMITS, timeout });
// The answer to this first query may be lost, too.
await query().catch(() => {});
console.log("ready");
await once(process.stdin, "data");
let isOn = true;
process.stdin.once("end", () => (isOn = false));

/** The id of each event, so that the event's end can be printed later. */
const ids = new Map<RecordedEvent, number>();
let lastId = 0;
const write = (event: RecordedEvent) => {
  const id = ids.get(event) ?? ++lastId;
  const { name, key, kind, count, start, end } = event;
  if (end === Infinity) ids.set(event, id);
  else ids.delete(event);
  // A write to a pipe is immediate, so the events that a killed process has begun are known.
  process.stdout.write(`${JSON.stringify([id, name, key, kind, count, start, end])}\n`);
};

reportClockError(store);

// Times are whole ms: an event's instant is between this time and the next ms.
const times = { before: trueNow, after: () => trueNow() + 1 };
await Promise.all(
  NAMES.flatMap((name) =>
    USES.map((use) =>
      new LeaseCaller({
        limiter,
        name,
        limit: LEASED[name],
        use,
        random: random.fork(),
        callers: processes,
        clock: times,
        sleep,
        isOn: () => isOn,
        around: (_, call) => call(),
        failed() {},
        write,
      }).run(),
    ),
  ),
);
process.exit();

async function open() {
  // A server has about a hundred connections, and other tests use them, too.
  const connections = processes > 10 ? 1 : 2;
  if (url.startsWith("postgresql:")) {
    const { default: pg } = await import("pg");
    const pool = new pg.Pool({ connectionString: url, max: connections });
    // An idle connection emits an error when it ends. Ignore it.
    pool.on("error", () => {});
    return { store: pgStore(pool) as RateLimitStore, query: () => pool.query("SELECT 1") };
  }
  const { default: mysql2 } = await import("mysql2/promise");
  const pool = mysql2.createPool({ uri: url, connectionLimit: connections });
  return { store: mysqlStore(pool) as RateLimitStore, query: () => pool.query("SELECT 1") };
}

function breakClock(fault: ClockFault | undefined): void {
  let error = fault === "ahead" ? HOUR : fault === "behind" ? -HOUR : 0;
  let slept = 0;
  const monotonic = performance.now.bind(performance);
  performance.now = () => monotonic() - slept;
  Date.now = () => trueNow() + error + (fault === "jumping" && random.chance(0.5) ? HOUR : 0);
  if (fault === "set") {
    setInterval(() => (error = random.pick([0, HOUR, -HOUR])), 3100).unref();
  } else if (fault === "sleeping") {
    setInterval(() => {
      const ms = random.between(1100, 2500);
      // oxlint-disable-next-line typescript/no-misused-promises -- It blocks.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
      slept += ms;
    }, 7300).unref();
  }
}
