/**
 * Runs code as the page does, but with both processes in this one, and without a sandbox: for the code of
 * the presets, when the site is built, and in tests.
 */
import { packageTools } from "./engine/package-tools.js";
import { serveProcess } from "./engine/process.js";
import { PROCESSES, runCount } from "./engine/run.js";

export async function runHere(code: string, seed: number) {
  const channels = Array.from({ length: PROCESSES }, () => new MessageChannel());
  for (const { port2 } of channels) serveProcess(port2, packageTools);
  return runCount(
    { code, seed },
    channels.map(({ port1 }) => port1),
  );
}
