/**
 * Tells the counts of this process to the server's other processes, by way of the process that started
 * all.
 */
import cluster, { type Worker } from "node:cluster";

const SECOND = 1000;
/** How long a process that tells nothing still counts, ms. */
const GONE = 10 * SECOND;

interface Told<T> {
  process: number;
  counts: T;
}

/** Passes the counts that one process tells on to the others. Runs in the process that started them. */
export function relayCounts(): void {
  cluster.on("message", (from: Worker, told: unknown) => {
    for (const each of Object.values(cluster.workers ?? {})) {
      if (each !== from && each?.isConnected()) each.send(told as object);
    }
  });
}

/**
 * @param own the counts of this process, told once a second if there are other processes.
 * @returns what the other processes have told last.
 */
export function tellCounts<T>(own: T): () => Told<T>[] {
  const known = new Map<number, Told<T> & { at: number }>();
  if (cluster.worker) {
    const { worker } = cluster;
    worker.on("message", (told: Told<T>) => {
      known.set(told.process, { ...told, at: performance.now() });
    });
    setInterval(() => {
      if (worker.isConnected()) worker.send({ process: worker.id, counts: own });
    }, SECOND).unref();
  }
  return () =>
    [...known.values()]
      .filter(({ at }) => performance.now() - at < GONE)
      .map(({ process, counts }) => ({ process, counts }));
}
