/**
 * Runs work once when the process is about to end by itself, with nothing left to do. The work does not
 * run when a signal or `process.exit` ends the process.
 */

/** `undefined` in edge runtimes, which have no process. */
const { process: ending } = globalThis as Partial<typeof globalThis>;

const KEY = Symbol.for("trpc-rate-limit.beforeExit");

/** Shared by all copies of this module, such as the copies of a hot reload: each process listens once. */
const shared = globalThis as { [KEY]?: Set<() => void> };

function listen(): Set<() => void> {
  const works = new Set<() => void>();
  ending?.on?.("beforeExit", () => {
    // Each work runs once: what it begins keeps the process alive, and `beforeExit` is then emitted
    // again.
    const all = [...works];
    works.clear();
    for (const work of all) work();
  });
  return works;
}

/** @returns a function that cancels the work. */
export function beforeExit(work: () => void): () => void {
  const works = (shared[KEY] ??= listen());
  works.add(work);
  return () => void works.delete(work);
}
