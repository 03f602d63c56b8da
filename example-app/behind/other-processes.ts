/** Tells the server's other processes what this one has counted, by way of the process that started all. */
import cluster, { type Worker } from "node:cluster";

const SECOND = 1000;
/** A process that has told nothing for so long is gone, ms. */
const GONE = 10 * SECOND;

interface Told<T> {
  process: number;
  counts: T;
}

/** In the process that starts the others: passes on what each of them tells. */
export function relayCounts(): void {
  cluster.on("message", (from: Worker, told: unknown) => {
    for (const each of Object.values(cluster.workers ?? {})) {
      if (each !== from && each?.isConnected()) each.send(told as object);
    }
  });
}

/**
 * @param own the counts of this process. They are told once a second, if there are other processes.
 * @returns what the others have told last.
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
