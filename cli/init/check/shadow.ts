/**
 * A copy of an application in a temporary folder, in which edits are tried. The application itself is
 * only read.
 */
import { rmSync } from "node:fs";
import { access, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { isFolder, readText } from "../files/files.js";
import type { Change } from "../plan.js";
import type { Project } from "../facts/project.js";
import { PNPM_WORKSPACE } from "../facts/workspace.js";
import { copySources, isInside, linkFolder, locateIn } from "./copy-sources.js";
import { copyThisPackage, linkPackages } from "./link-packages.js";
import { NotChecked } from "./not-checked.js";
import { onEnd } from "./on-end.js";

/** The files that edits of this module change. */
export const CODE = /\.[cm]?[jt]sx?$/;

export class Shadow {
  /** The copy of the workspace, or of the application that stands alone. */
  readonly top: string;
  /** The copy of the project's root. */
  readonly root: string;
  readonly #base: string;
  readonly #release: () => void;
  #applied: readonly Change[] = [];

  private constructor(base: string, inside: string) {
    this.#base = base;
    this.top = join(base, "application");
    this.root = join(this.top, inside);
    this.#release = onEnd(() => rmSync(base, { recursive: true, force: true }));
  }

  /** @throws NotChecked if the application cannot be copied. */
  static async open(project: Project): Promise<Shadow> {
    const root = await realpath(project.root);
    const top = (await workspaceAround(root)) ?? root;
    const base = await mkdtemp(join(await realpath(tmpdir()), "trpc-rate-limit-"));
    const shadow = new Shadow(base, relative(top, root));
    try {
      await shadow.#fill(project, root, top);
      return shadow;
    } catch (error) {
      await shadow.close();
      throw error;
    }
  }

  async #fill({ api, members }: Project, root: string, top: string): Promise<void> {
    const locate = locateIn(top, this.top);
    const around = join(this.#base, "node_modules");
    let isInstalled = false;
    for (const folder of await copySources(top, this.top, locate)) {
      await linkPackages(join(top, folder), join(this.top, folder), locate);
      isInstalled = true;
    }
    // Packages may be installed in any folder above.
    for (let folder = dirname(top); folder !== dirname(folder); folder = dirname(folder)) {
      if (!(await isFolder(folder, "node_modules"))) continue;
      await linkPackages(join(folder, "node_modules"), around, locate);
      isInstalled = true;
    }
    if (!isInstalled) throw new NotChecked("there is no folder node_modules");
    const folders = [api, ...members].map(({ folder }) => join(root, folder));
    const own = join(this.#base, "this-package", "node_modules");
    const copy = await copyThisPackage(own, [...folders, root], locate);
    await mkdir(around, { recursive: true });
    await linkFolder(copy, join(around, "trpc-rate-limit"));
  }

  /** Makes these changes of code, and takes back the changes that were made before. */
  async apply(changes: readonly Change[]): Promise<void> {
    const code = changes.filter(({ file }) => CODE.test(file));
    for (const { file, before } of this.#applied) await this.#write(file, before);
    for (const { file, after } of code) await this.#write(file, after);
    this.#applied = code;
  }

  async #write(file: string, text: string | undefined): Promise<void> {
    const path = join(this.root, file);
    // A folder may be a link to a folder of the application itself.
    if (!isInside(this.top, await realFolder(dirname(path)))) {
      throw new NotChecked(`${file} is behind a link`);
    }
    await mkdir(dirname(path), { recursive: true });
    await rm(path, { force: true });
    if (text !== undefined) await writeFile(path, text, { flag: "wx" });
  }

  async close(): Promise<void> {
    await rm(this.#base, { recursive: true, force: true, maxRetries: 3 });
    this.#release();
  }
}

/**
 * The nearest folder, from `folder` upwards, that has all that the code in it may read: settings that
 * others extend, and packages that are linked.
 */
async function workspaceAround(folder: string): Promise<string | undefined> {
  if (folder === homedir()) return undefined;
  const manifest = await readText(folder, "package.json");
  const isMarked =
    /"workspaces"\s*:/.test(manifest ?? "") ||
    (await exists(join(folder, PNPM_WORKSPACE))) ||
    (await exists(join(folder, ".git")));
  const parent = dirname(folder);
  if (isMarked) return folder;
  return parent === folder ? undefined : workspaceAround(parent);
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

/** Without links, the folder, or the nearest folder above it that is there. */
async function realFolder(folder: string): Promise<string> {
  return realpath(folder).catch(() => realFolder(dirname(folder)));
}
