/**
 * A process that reads and writes a buffer larger than the caches of a core, again and again, with the
 * lowest priority. The process stands for an application's own work: after such work, a lone call finds
 * its code and its data no longer in the caches. `disturbCaches` starts one such process for each core.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { availableParallelism, setPriority } from "node:os";
import { fileURLToPath } from "node:url";

const SIZE = 64 * 2 ** 20;
/** Bytes that a cache loads together. */
const LINE = 64;

/** Resolves with a function that ends the processes. */
export async function disturbCaches(): Promise<() => void> {
  const file = fileURLToPath(new URL("busy-caches.ts", import.meta.url));
  const children = await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      const child = fork(file, ["walk"], { execArgv: ["--import", "tsx"] });
      await once(child, "message");
      return child;
    }),
  );
  return () => {
    for (const child of children) child.kill();
  };
}

function walk(buffer: Uint8Array): void {
  for (let at = 0; at < SIZE; at += LINE) buffer[at]!++;
  setImmediate(walk, buffer);
}

if (process.argv[2] === "walk") {
  // With the lowest priority, the walk runs while a call waits for the database, and gives way when the
  // answer comes.
  setPriority(19);
  process.once("disconnect", () => process.exit());
  walk(new Uint8Array(SIZE));
  process.send!("walking");
}
