/** Runs code as the page does, but with both processes in this one, each with tools of its own. */
import { packageTools } from "../../../../site/app/count/engine/package-tools.js";
import { serveProcess } from "../../../../site/app/count/engine/process.js";
import { PROCESSES, runCount } from "../../../../site/app/count/engine/run.js";

export async function runHere(code: string, seed: number) {
  const channels = Array.from({ length: PROCESSES }, () => new MessageChannel());
  for (const { port2 } of channels) serveProcess(port2, packageTools);
  return runCount(
    { code, seed },
    channels.map(({ port1 }) => port1),
  );
}
