/** Applications as create-t3-app writes them, and small applications made by a test. */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const VERSION = "7.40.0";
const CACHE = join(tmpdir(), `trpc-rate-limit-create-t3-app-${VERSION}`);

export interface Folder {
  root: string;
  read(file: string): Promise<string>;
  write(file: string, text: string): Promise<void>;
  /** All files, by path. */
  readAll(): Promise<Record<string, string>>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** An application with these files. */
export async function makeFolder(files: Record<string, string>): Promise<Folder> {
  const folder = openFolder(await mkdtemp(join(tmpdir(), "application-")));
  for (const [file, text] of Object.entries(files)) await folder.write(file, text);
  return folder;
}

/**
 * A copy of a new T3 app with nothing installed, or a text that says why there is none.
 *
 * @param flags of create-t3-app, in addition to `--trpc true --appRouter true`.
 */
export async function makeT3App(flags: string): Promise<Folder | string> {
  const cached = join(CACHE, flags.replaceAll(/\W+/g, "-"));
  const failure = existsSync(cached) ? undefined : await scaffold(flags, cached);
  if (failure !== undefined) return `create-t3-app did not run: ${failure}`;
  const root = await mkdtemp(join(tmpdir(), "t3-"));
  await cp(cached, root, { recursive: true });
  return openFolder(root);
}

/** Scaffolds once per machine. Several processes may scaffold at a time. */
async function scaffold(flags: string, cached: string): Promise<string | undefined> {
  await mkdir(CACHE, { recursive: true });
  const work = await mkdtemp(join(CACHE, "new-"));
  const options = `--CI --trpc true --appRouter true --noGit --noInstall ${flags}`.split(" ");
  try {
    const run = ["-y", `create-t3-app@${VERSION}`, "app", ...options];
    await promisify(execFile)("npx", run, { cwd: work, timeout: 60_000 });
    await rename(join(work, "app"), cached).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
    return undefined;
  } catch (error) {
    return (error as Error).message.split("\n")[0];
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** A folder that exists already. */
export function openFolder(root: string): Folder {
  return {
    root,
    read: (file) => readFile(join(root, file), "utf8"),
    async write(file, text) {
      await mkdir(dirname(join(root, file)), { recursive: true });
      await writeFile(join(root, file), text);
    },
    async readAll() {
      const entries = await readdir(root, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile());
      const texts = files.map(async ({ parentPath, name }) => {
        const path = join(parentPath, name);
        return [path.slice(root.length + 1), await readFile(path, "latin1")] as const;
      });
      return Object.fromEntries(await Promise.all(texts));
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}
