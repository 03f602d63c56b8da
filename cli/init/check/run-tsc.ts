/** Runs the compiler of an application as a process: TypeScript 7 has no API in JavaScript. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { isAbsolute, join, relative, sep } from "node:path";
import { NotChecked } from "./not-checked.js";
import { onEnd } from "./on-end.js";

export interface TscError {
  /** The path, relative to the folder in which `tsc` runs, with `/`; `""` for an error of a setting. */
  file: string;
  /** Counts from 1. */
  line: number;
  /** Such as `TS2322`. */
  code: string;
  /** The first line. */
  message: string;
  /** The last line, which says most, of a message with several lines. */
  detail: string;
}

export interface TscResult {
  errors: TscError[];
  /** All files that were compiled, as the files of errors. */
  files: ReadonlySet<string>;
}

export interface TscOptions {
  /** The path of `tsc`. */
  compiler: string;
  config: string;
  cwd: string;
  /** A folder with all sources. */
  rootDir: string;
  /** In ms. */
  timeLimit: number;
}

/**
 * The settings that the check needs. The project itself may be built in parts: then its sources would
 * have to be built in an order, and `rootDir` would be too narrow for the sources of another part.
 * Without `skipLibCheck`, `tsc` reports errors in packages, which an edit cannot mend.
 */
const SETTINGS =
  "--noEmit --composite false --incremental false --tsBuildInfoFile null --skipLibCheck true " +
  "--pretty false --listFiles";

/** @throws NotChecked if `tsc` did not compile. */
export async function runTsc(options: TscOptions): Promise<TscResult> {
  const { compiler, config, cwd, rootDir, timeLimit } = options;
  const args = [compiler, "-p", config, "--rootDir", rootDir, ...SETTINGS.split(" ")];
  const child = spawn(process.execPath, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    // A process group: `tsc` starts a process itself, which has to end with it.
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  const output = Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  const release = onEnd(() => kill(child));
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    kill(child);
  }, timeLimit);
  try {
    const [[code], [stdout, stderr]] = await Promise.all([once(child, "close"), output]);
    if (isLate) throw new NotChecked(`it took longer than ${durationOf(timeLimit)}`);
    const result = parseOutput(stdout, cwd);
    if (code !== 0 && result.errors.length === 0) {
      throw new NotChecked(`it has failed: ${firstLine(stderr || stdout)}`);
    }
    const [first] = result.errors;
    if (first !== undefined && !result.errors.some(isInSource)) {
      // With an error in the settings, `tsc` looks at no types.
      throw new NotChecked(`it says: ${first.code} ${first.message.replace(/\.$/, "")}`);
    }
    return result;
  } finally {
    clearTimeout(timer);
    release();
  }
}

const isInSource = ({ file }: TscError) => /\.[cm]?[jt]sx?$/.test(file);
const firstLine = (text: string) => text.trim().split(/\r?\n/, 1)[0];
const durationOf = (ms: number) => (ms < 60_000 ? `${ms / 1000} s` : `${ms / 60_000} min`);

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const chunk of stream.setEncoding("utf8")) text += String(chunk);
  return text;
}

function kill({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  if (process.platform === "win32") {
    spawn("taskkill", ["/pid", String(pid), "/t", "/f"], { stdio: "ignore", windowsHide: true });
    return;
  }
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has just ended.
  }
}

export function parseOutput(output: string, cwd: string): TscResult {
  const errors: TscError[] = [];
  const files = new Set<string>();
  for (const line of output.split(/\r?\n/)) {
    const place = /^(?:(.+)\((\d+),\d+\): )?error (TS\d+): (.*)$/.exec(line);
    if (place) {
      const [, file = "", at = "0", code, message] = place as unknown as [string, ...string[]];
      errors.push({
        file: slashes(file),
        line: Number(at),
        code: code!,
        message: message!,
        detail: "",
      });
    } else if (isAbsolute(line)) files.add(slashes(relative(cwd, join(line))));
    else if (/^\s+\S/.test(line) && errors.length > 0) errors.at(-1)!.detail = line.trim();
  }
  return { errors, files };
}

const slashes = (path: string) => path.split(sep).join("/");
