/** `trpc-rate-limit init`: shows the changes that it would make in an application, asks, and writes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { styleText } from "node:util";
import { createTwoFilesPatch } from "diff";
import { ask } from "../ask.js";
import { writeChange } from "./files/files.js";
import { readApplication } from "./facts/application.js";
import { makePlan } from "./make-plan.js";
import type { Change, Plan, WhyRefused } from "./plan.js";
import { readProject } from "./facts/project.js";
import { checkedPlan } from "./check/checked-plan.js";

export interface InitOptions {
  /** The application's folder. */
  root: string;
  /** The version of this package. */
  version: string;
  /** Writes nothing. */
  dryRun: boolean;
  /** Does not ask. */
  yes: boolean;
  /** Runs the package manager after package.json was written. */
  install: boolean;
  /** Compiles the application with the changes, and leaves to its author what adds an error. */
  check: boolean;
  print: (text: string) => void;
  /** Epoch ms, for the name of a migration. @default the time of this machine */
  now?: number;
}

/** @throws CliError when `init` cannot go on, and when it cannot ask. */
export async function init(options: InitOptions): Promise<void> {
  const { version, dryRun, yes, print, now = Date.now() } = options;
  let isInstalled = false;
  const project = await readProject(options.root);
  const { root } = project;
  const app = await readApplication(project);
  const make = (whyRefused?: WhyRefused) => makePlan(app, version, now, whyRefused);
  const plan = await (options.check ? checkedPlan({ project, make, print }) : make());
  if (root !== options.root) print(`In ${root}:\n`);
  for (const change of plan.changes) print(diffOf(change));
  const install = options.install ? plan.install : undefined;
  if (plan.changes.length === 0) {
    print(
      plan.byHand.length === 0
        ? `Nothing to change: the limits are in ${[...new Set(plan.present)].join(", ")} already.`
        : "There is nothing that init can change by itself.",
    );
  } else if (dryRun) {
    print("Nothing was written, because of --dry-run.");
  } else {
    if (!yes && !(await isAgreed(plan.changes.length, install))) {
      print("Nothing was written.");
      return;
    }
    for (const change of plan.changes) {
      await writeChange(root, change);
      print(`${change.before === undefined ? "Wrote" : "Changed"} ${change.file}`);
    }
    if (install !== undefined) isInstalled = await runInstall(root, install, print);
  }
  const next = plan.install && !isInstalled ? [plan.install.join(" "), ...plan.next] : plan.next;
  printRest({ ...plan, next }, print);
}

/**
 * Runs the package manager, and shows its output. Resolves with whether the package manager has
 * succeeded.
 */
async function runInstall(
  root: string,
  [command, ...args]: NonNullable<Plan["install"]>,
  print: InitOptions["print"],
): Promise<boolean> {
  const shown = [command, ...args].join(" ");
  print(`\n$ ${shown}`);
  // On Windows, package managers are scripts that only a shell runs.
  const shell = process.platform === "win32";
  const child = spawn(command, args, { cwd: root, stdio: "inherit", shell });
  const code = await once(child, "close").then(
    ([status]) => status as number | null,
    () => null,
  );
  if (code !== 0) print(`${shown} has failed; what init has written is there. Run it again`);
  return code === 0;
}

function isAgreed(count: number, install: Plan["install"]): Promise<boolean> {
  const files = count === 1 ? "this file" : `these ${count} files`;
  const command = install === undefined ? "" : ` and run ${install.join(" ")}`;
  return ask(
    `Write ${files}${command}?`,
    "nothing was written: this is not a terminal, so init cannot ask. " +
      "Run it with --yes to write these changes, or with --dry-run to see them only",
  );
}

function printRest({ byHand, notes, next, changes }: Plan, print: (text: string) => void): void {
  for (const note of notes) print(`\n${note}`);
  for (const { file, why, lines } of byHand) {
    print(`\nBy hand, in ${file} (${why}):\n\n${lines.replace(/^(?=.)/gm, "    ").trimEnd()}`);
  }
  if (next.length === 0 || changes.length + byHand.length === 0) return;
  print("\nNext:");
  for (const [i, step] of next.entries())
    print(`${i + 1}. ${step.replaceAll(/\n(?=.)/g, "\n   ")}`);
}

function diffOf({ file, before, after }: Change): string {
  const from = before === undefined ? "/dev/null" : `a/${file}`;
  const patch = createTwoFilesPatch(from, `b/${file}`, before ?? "", after, "", "", { context: 3 });
  const lines = patch
    .replace(/\n$/, "")
    .split("\n")
    .filter((line) => !/^=+$/.test(line));
  return process.stdout.isTTY ? lines.map(coloured).join("\n") : lines.join("\n");
}

function coloured(line: string): string {
  if (line.startsWith("+")) return styleText("green", line);
  return line.startsWith("-") ? styleText("red", line) : line;
}
