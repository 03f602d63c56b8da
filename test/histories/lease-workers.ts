/** Starts processes with leases on one database, disturbs them, and collects what they did. */
import type { RecordedEvent } from "./lease-caller.js";
import type { ClockFault, LeaseWorkerOptions } from "./lease-worker.js";
import { startWorkerProcesses, type WorkerProcesses } from "./worker-processes.js";

export interface LeaseWorkersOptions {
  file: string;
  url: string;
  processes: number;
  /** By process. */
  clocks?: readonly (ClockFault | undefined)[] | undefined;
  /** @default 2000 */
  timeout?: number;
}

export interface LeaseWorkers extends WorkerProcesses {
  events: RecordedEvent[];
}

export async function startLeaseWorkers({
  file,
  url,
  processes,
  clocks = [],
  timeout = 2000,
}: LeaseWorkersOptions): Promise<LeaseWorkers> {
  const events: RecordedEvent[] = [];
  const workers = await startWorkerProcesses({
    file,
    processes,
    argumentOf: (index, seed): LeaseWorkerOptions => {
      return { url, seed, processes, clock: clocks[index], timeout };
    },
    reader() {
      const known = new Map<number, RecordedEvent>();
      return (line) => {
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
      };
    },
  });
  return { events, ...workers };
}
