/** Starts processes with leases on one database, disturbs them, and collects their events. */
import type { RecordedEvent } from "./lease-caller.js";
import type { ClockFault, LeaseWorkerOptions } from "./lease-worker.js";
import { startWorkerProcesses, type WorkerProcesses } from "./worker-processes.js";

export interface LeaseWorkersOptions {
  file: string;
  url: string;
  processes: number;
  /** The fault of each process's clock. */
  clocks?: readonly (ClockFault | undefined)[] | undefined;
  /** @default 2000 */
  timeout?: number;
}

export interface LeaseWorkers extends WorkerProcesses {
  events: RecordedEvent[];
  /** How far a process may have been from the clock of the database, ms. */
  clockError(): number;
}

/** A line that a process prints: an event, or the largest error of its clock so far, ms. */
type Line =
  | number
  | [
      id: number,
      name: RecordedEvent["name"],
      key: RecordedEvent["key"],
      kind: RecordedEvent["kind"],
      count: number,
      begun: number,
      end: number | null,
    ];

export async function startLeaseWorkers({
  file,
  url,
  processes,
  clocks = [],
  timeout = 2000,
}: LeaseWorkersOptions): Promise<LeaseWorkers> {
  const events: RecordedEvent[] = [];
  let clockError = 0;
  const workers = await startWorkerProcesses({
    file,
    processes,
    argumentOf: (index, seed): LeaseWorkerOptions => {
      return { url, seed, processes, clock: clocks[index], timeout };
    },
    reader() {
      const known = new Map<number, RecordedEvent>();
      return (line) => {
        const written = JSON.parse(line) as Line;
        if (typeof written === "number") return void (clockError = Math.max(clockError, written));
        const [id, name, key, kind, count, begun, end] = written;
        const before = known.get(id);
        known.delete(id);
        if (before !== undefined) return void (before.end = end!);
        const event = { name, key, kind, count, start: begun, end: end ?? Infinity };
        events.push(event);
        if (end === null) known.set(id, event);
      };
    },
  });
  return { events, clockError: () => clockError, ...workers };
}
