/** Runs `init` in this process, or the command as a user runs it. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { init } from "../../cli/init/init.js";
import { type Folder, makeFolder } from "./scaffold.js";

/** The built command. */
export const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

interface RunOptions {
  dryRun?: boolean;
  /** Epoch ms. @default the time of this machine */
  now?: number;
}

/** Resolves with the text that `init` printed. */
export async function runInit(root: string, options: RunOptions = {}): Promise<string> {
  return (await collectInit(root, options)).join("\n");
}

/** An application with these files, in which `init` has run. */
export async function initIn(files: Record<string, string>): Promise<Folder & { printed: string }> {
  const app = await makeFolder(files);
  return { ...app, printed: await runInit(app.root) };
}

/** Resolves with each text that `init` printed. A diff is one text. */
export async function collectInit(
  root: string,
  { dryRun = false, now = Date.now() }: RunOptions = {},
): Promise<string[]> {
  const texts: string[] = [];
  const print = (text: string) => texts.push(text);
  await init({
    root,
    version: "1.2.3",
    dryRun,
    yes: true,
    check: true,
    install: false,
    print,
    now,
  });
  return texts;
}

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the built command, without a terminal. */
export async function runCommand(
  root: string,
  args: readonly string[],
  env: Record<string, string> = {},
  { node = process.execPath } = {},
): Promise<CommandResult> {
  const child = spawn(node, [MAIN, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, stdout, stderr };
}
