/**
 * An application that follows the manual quick start, docs/guides/vite.md. The page's lines install the
 * package as it would be published, beside the newest versions of its peers. The page's blocks are then
 * written to the files that they name.
 *
 * `prisma init` and `prisma migrate` download an engine. So the folder begins with the files of `app`,
 * which `prisma init` would write, and a client applies the package's migration.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createClient } from "@libsql/client";
import { type Block, blocksOf, readPage, ROOT } from "../docs/pages.js";
import { freePort } from "../support/free-port.js";

const run = promisify(execFile);
const PAGE = "docs/guides/vite.md";
const APP = fileURLToPath(new URL("app/", import.meta.url));

/** The application's own tools, in the versions of this repository. */
const TOOLS = ["@types/node", "@types/react", "@types/react-dom", "typescript"];

export interface Application {
  folder: string;
  /** Runs a command of the folder's `node_modules`, and resolves with its output. */
  run(command: string, ...args: string[]): Promise<string>;
  /** Starts the API. Resolves with its URL. */
  startApi(): Promise<string>;
  /** Starts the API and the page. Resolves with the URL of the page. */
  start(): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** @param bun its binary, to install, generate and serve by it instead of npm and Node.js. */
export async function createApplication(bun?: string): Promise<Application> {
  const folder = await mkdtemp(join(tmpdir(), "quick-start-"));
  const children: ChildProcess[] = [];
  const spawned = (command: string, args: string[]) => {
    const child = spawn(command, args, { cwd: folder });
    children.push(child);
    return child;
  };
  const startApi = async () => {
    const port = await freePort();
    await replaceIn(join(folder, "server/main.ts"), ".listen(3000)", `.listen(${port})`);
    // Bun needs no loader for TypeScript.
    const loader = bun === undefined ? ["--import", "tsx"] : [];
    spawned(bun ?? process.execPath, [...loader, "server/main.ts"]);
    await answers(port);
    return port;
  };
  const application: Application = {
    folder,
    run: (command, ...args) => runIn(folder, join("node_modules/.bin", command), ...args),
    startApi: async () => `http://localhost:${await startApi()}`,
    async start() {
      const port = await startApi();
      await replaceIn(join(folder, "vite.config.ts"), "localhost:3000", `localhost:${port}`);
      const page = await freePort();
      const vite = ["node_modules/vite/bin/vite.js", "--port", String(page), "--strictPort"];
      await printed(spawned(process.execPath, vite), "ready in");
      return `http://localhost:${page}`;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(children.map(ended));
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    await copyApplication(folder);
    await install(folder, bun);
    await writeBlocks(folder);
    await migrate(folder, bun);
  } catch (error) {
    await application[Symbol.asyncDispose]();
    throw error;
  }
  return application;
}

async function copyApplication(folder: string): Promise<void> {
  await cp(APP, folder, { recursive: true });
  const files = await readdir(folder, { recursive: true });
  for (const file of files.filter((name) => name.endsWith(".txt"))) {
    await rename(join(folder, file), join(folder, file.slice(0, -".txt".length)));
  }
}

/** Runs the page's lines with the packed package in place of its name. No flag hides a conflict. */
async function install(folder: string, bun?: string): Promise<void> {
  const add = (packages: string[]) =>
    bun === undefined
      ? runIn(folder, "npm", "install", ...packages)
      : runIn(folder, bun, "add", ...packages.map((name) => name.replace("--save-dev", "--dev")));

  const { text } = await readPage(PAGE);
  const lines = [...text.matchAll(/^npm install (.+)$/gm)].map(([, names]) => names!);
  const packed = await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], {
    cwd: ROOT,
  });
  const tarball = join(folder, packed.stdout.trim().split("\n").at(-1)!);
  for (const line of lines) {
    await add(line.replace("trpc-rate-limit", tarball).split(" "));
  }

  const versions = (await json(join(ROOT, "package.json"))) as {
    devDependencies: Record<string, string>;
  };
  await add(TOOLS.map((name) => `${name}@${versions.devDependencies[name]}`));
}

async function writeBlocks(folder: string): Promise<void> {
  for (const block of blocksOf(await readPage(PAGE))) {
    const path = block.path ?? pathOf(block);
    // Of tabs, the application has the first one.
    if (path === undefined || block.tab !== undefined) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), block.code);
  }
}

/** Where the blocks of other languages belong. */
function pathOf({ language, code }: Block): string | undefined {
  if (language === "html") return "index.html";
  return /^\/\/ (\S+)\n/.exec(code)?.[1];
}

async function migrate(folder: string, bun?: string): Promise<void> {
  const prisma = "node_modules/.bin/prisma";
  // Without the flag, Bun obeys the file's first line, which asks for Node.js.
  if (bun === undefined) await runIn(folder, prisma, "generate");
  else await runIn(folder, bun, "--bun", prisma, "generate");
  const migrations = join(folder, "node_modules/trpc-rate-limit/prisma/migrations");
  const entries = await readdir(migrations, { withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(migrations, name, "migration.sql"))
    .sort();
  const client = createClient({ url: `file:${join(folder, "dev.db")}` });
  for (const file of [join(folder, "prisma/application.sql"), ...files]) {
    await client.executeMultiple(await readFile(file, "utf8"));
  }
  client.close();
}

async function runIn(folder: string, command: string, ...args: string[]): Promise<string> {
  // Generating runs no engine, and any file keeps Prisma from downloading one.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath };
  const { stdout, stderr } = await run(command, args, { cwd: folder, env }).catch(
    (error: { stdout: string; stderr: string }) => {
      const output = `${error.stdout}\n${error.stderr}`;
      throw new Error(`${command} ${args.join(" ")} failed:\n${output}`, { cause: error });
    },
  );
  // npm overrides peers of peers that do not fit together, and only warns.
  if (stderr.includes("ERESOLVE")) throw new Error(`peers do not fit together:\n${stderr}`);
  return stdout;
}

async function replaceIn(path: string, text: string, replacement: string): Promise<void> {
  const before = await readFile(path, "utf8");
  if (!before.includes(text)) throw new Error(`${path} has no ${text}`);
  await writeFile(path, before.replace(text, replacement));
}

/** Resolves once a server listens on the port. */
async function answers(port: number): Promise<void> {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "localhost", () => resolve(true));
      socket.on("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (isOpen) return;
    await setTimeout(100);
  }
}

async function json(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, "utf8"));
}

function printed(child: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = "";
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes(text)) resolve();
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("exit", () => reject(new Error(`it ended before it printed ${text}:\n${output}`)));
  });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await exit;
}
