/** Programs that serve something, and print where. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Host } from "./serve-fetch.js";

/**
 * Starts a program, and resolves with the first address that it prints.
 *
 * @throws Error with what the program has printed when it ends before.
 */
export async function startProgram(
  command: string,
  args: readonly string[],
  { cwd, path = "" }: { cwd?: string; path?: string } = {},
): Promise<Host> {
  const program = spawn(command, args, {
    ...(cwd !== undefined && { cwd }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const url = await new Promise<string>((resolve, reject) => {
    let output = "";
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const [found] = /http:\/\/(localhost|127\.0\.0\.1):\d+/.exec(output) ?? [];
      if (found !== undefined) resolve(found);
    };
    program.stdout.on("data", read);
    program.stderr.on("data", read);
    program.once("exit", () => reject(new Error(output)));
  });
  return {
    url: url + path,
    async [Symbol.asyncDispose]() {
      if (program.exitCode !== null || program.signalCode !== null) return;
      program.kill("SIGKILL");
      await once(program, "exit");
    },
  };
}
