/** A folder outside of this repository that installs the packed package, as applications do. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../docs/pages.js";
import { freePort } from "../support/free-port.js";

export interface CommandOptions {
  env?: Record<string, string>;
  timeout?: number;
}

export interface Project {
  root: string;
  /** Runs a command in the folder. Resolves with all that it printed; rejects with the same. */
  run(command: string, args: readonly string[], options?: CommandOptions): Promise<string>;
  /** `npm install` without a flag that changes what is installed. Resolves with its warnings. */
  install(packages: readonly string[], options?: CommandOptions): Promise<string>;
  /**
   * Compiles, and resolves with the errors of the application and of this package. Those in the
   * declarations of others are not ours.
   */
  typeErrors(compiler: string, args?: readonly string[]): Promise<string[]>;
  /**
   * Starts a server that prints "Ready" once it listens on the port, the last argument.
   *
   * @param node which Node runs it. @default the one that runs the tests
   */
  serve(args: readonly string[], env?: Record<string, string>, node?: string): Promise<Server>;
  /** The names of all installed packages, nested ones included. */
  installed(): Promise<string[]>;
  /** Prints how long each command took. */
  report(title: string): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Server {
  url: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What npm reads from the environment. A user's settings must hide no conflict and leave out no script. */
const STRICT = {
  npm_config_force: "false",
  npm_config_ignore_scripts: "false",
  npm_config_legacy_peer_deps: "false",
  npm_config_prefer_offline: "true",
  npm_config_audit: "false",
  npm_config_fund: "false",
};

/** @param files a folder whose files the project begins with */
export async function makeProject(files?: string): Promise<Project> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "scaffold-")));
  const manifest = { name: "application", private: true, type: "module" };
  if (files === undefined) await writeFile(join(root, "package.json"), JSON.stringify(manifest));
  else await cp(files, root, { recursive: true });
  return openProject(root);
}

export function openProject(root: string): Project {
  const times: string[] = [];
  const run: Project["run"] = async (command, args, { env = {}, timeout = 300_000 } = {}) => {
    const start = performance.now();
    const options = { cwd: root, env: { ...process.env, ...STRICT, ...env }, timeout };
    try {
      const { stdout, stderr } = await promisify(execFile)(command, args, options);
      return stdout + stderr;
    } catch (error) {
      const { stdout, stderr, message } = error as Error & { stdout?: string; stderr?: string };
      throw new Error(`${message}\n${stdout ?? ""}${stderr ?? ""}`, { cause: error });
    } finally {
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      times.push(`${[command.split("/").at(-1), args[0]].join(" ")} ${seconds} s`);
    }
  };
  return {
    root,
    run,
    async install(packages, options = {}) {
      const install = (env = {}) =>
        run("npm", ["install", ...packages], { ...options, env: { ...options.env, ...env } });
      try {
        return await install();
      } catch (error) {
        // A list of versions in the cache is older than a package that was published since.
        if (!(error as Error).message.includes("code ETARGET")) throw error;
        return install({ npm_config_prefer_offline: "false", npm_config_prefer_online: "true" });
      }
    },
    async typeErrors(compiler, args = []) {
      const output = await run(compiler, ["--pretty", "false", ...args]).catch(
        (error: Error) => error.message,
      );
      const errors = output.split("\n").filter((line) => / error TS\d+: /.test(line));
      if (output !== "" && errors.length === 0) throw new Error(output);
      return errors.filter((line) => !/^node_modules\/(?!trpc-rate-limit\/)/.test(line));
    },
    serve: (args, env = {}, node = process.execPath) =>
      serve(root, node, args, { ...process.env, ...env }),
    installed: () => packagesIn(join(root, "node_modules")),
    report: (title) => console.log(`${title}: ${times.join(", ")}`),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

async function serve(root: string, node: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const port = await freePort();
  const child = spawn(node, [...args, String(port)], { cwd: root, env });
  const exited = once(child, "exit");
  await new Promise<void>((resolve, reject) => {
    let log = "";
    const listen = (chunk: Buffer) => {
      log += chunk.toString();
      if (log.includes("Ready")) resolve();
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.once("exit", () => reject(new Error(`the server exited before it was ready:\n${log}`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
    },
  };
}

async function packagesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter(({ name }) => name === "package.json")
    .map(({ parentPath }) => parentPath.split("node_modules/").at(-1)!)
    .filter((path) => path.split("/").length === (path.startsWith("@") ? 2 : 1));
}

/** The compiler of this repository. */
export const TSC = join(ROOT, "node_modules/.bin/tsc");

/**
 * How a program of an application is compiled: strictly, and the declarations of packages with it.
 *
 * @param packages that the application has.
 * @param more options of the compiler.
 */
export async function writeConfig(
  root: string,
  file: string,
  packages: readonly string[],
  more: object = {},
): Promise<void> {
  const compilerOptions = {
    target: "ES2022",
    module: "NodeNext",
    lib: ["ES2022", "DOM"],
    types: packages.includes("@types/node@20") ? ["node"] : [],
    jsx: "react-jsx",
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    ...more,
  };
  await writeFile(join(root, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [file] }));
}
