/** Applications with a compiler and packages, and plans with edits that a test has written. */
import { existsSync, readFileSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkedPlan } from "../../cli/init/check/checked-plan.js";
import { type CodeStep, Draft } from "../../cli/init/draft.js";
import type { Plan } from "../../cli/init/plan.js";
import { readProject } from "../../cli/init/facts/project.js";
import { type Folder, makeFolder } from "./scaffold.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The compilers that are installed in this repository. */
export const COMPILERS = ["node_modules/typescript", "test/t3-app/node_modules/typescript"]
  .map((folder) => join(ROOT, folder))
  .filter((folder) => existsSync(folder))
  .map((compiler) => {
    const text = readFileSync(join(compiler, "package.json"), "utf8");
    return { compiler, version: (JSON.parse(text) as { version: string }).version };
  });

/** @param packages of this repository. */
export async function makeInstalled(
  files: Record<string, string>,
  packages: readonly string[],
  compiler = COMPILERS[0]!.compiler,
): Promise<Folder> {
  const folder = await makeFolder(files);
  await linkAll(folder.root, {
    ...Object.fromEntries(packages.map((name) => [name, join(ROOT, "node_modules", name)])),
    typescript: compiler,
  });
  return folder;
}

/** Makes links in node_modules, each from a name to a folder. */
export async function linkAll(root: string, packages: Record<string, string>): Promise<void> {
  for (const [name, target] of Object.entries(packages)) {
    const path = join(root, "node_modules", name);
    await mkdir(dirname(path), { recursive: true });
    await symlink(target, path);
  }
}

/** An edit that replaces a text. */
export function replacing(file: string, from: string, to: string): CodeStep {
  return {
    file,
    edit(code) {
      const at = code.text.indexOf(from);
      if (at !== -1) code.replace(at, at + from.length, to);
      return at !== -1;
    },
    lines: to,
  };
}

/** A file that a plan writes, or an edit. The text of a file of JSON is replaced. */
export type Step = CodeStep | { file: string; text: string };

/** Makes a plan with these edits, and checks it. */
export async function checkSteps(
  root: string,
  steps: readonly Step[],
  timeLimit?: number,
): Promise<Plan & { printed: string }> {
  const printed: string[] = [];
  const plan = await checkedPlan({
    project: await readProject(root),
    async make(whyRefused) {
      const draft = new Draft(root, whyRefused);
      for (const step of steps) {
        if ("text" in step && step.file.endsWith(".json")) {
          await draft.editText({ file: step.file, edit: () => step.text, lines: step.text });
        } else if ("text" in step) await draft.create(step.file, step.text, "there is such a file");
        else await draft.edit(step);
      }
      return draft.plan();
    },
    print: (text) => printed.push(text),
    ...(timeLimit !== undefined && { timeLimit }),
  });
  return { ...plan, printed: printed.join("\n") };
}
