/**
 * Runs work once when the process is about to end by itself, with nothing left to do. Not when it is
 * ended by a signal or by `process.exit`.
 */

/** In edge runtimes there is no process. */
const { process: ending } = globalThis as Partial<typeof globalThis>;

const KEY = Symbol.for("trpc-rate-limit.beforeExit");

/** Shared by all copies of this module, such as those of a hot reload: each process listens once. */
const shared = globalThis as { [KEY]?: Set<() => void> };

function listen(): Set<() => void> {
  const works = new Set<() => void>();
  ending?.on?.("beforeExit", () => {
    // What they begin keeps the process alive, and then it is about to end again.
    const all = [...works];
    works.clear();
    for (const work of all) work();
  });
  return works;
}

/** @returns what ends that. */
export function beforeExit(work: () => void): () => void {
  const works = (shared[KEY] ??= listen());
  works.add(work);
  return () => void works.delete(work);
}
