/** `trpc-rate-limit init`: shows what it would change in an application, asks, and writes. */
import { styleText } from "node:util";
import { confirm, isCancel } from "@clack/prompts";
import { createTwoFilesPatch } from "diff";
import { CliError } from "../cli-error.js";
import { writeChange } from "./files.js";
import { makePlan } from "./make-plan.js";
import type { Change, Plan } from "./plan.js";
import { makeWorkspacePlan } from "./workspace/make-workspace-plan.js";
import { findWorkspace } from "./workspace/workspace.js";

export interface InitOptions {
  /** The application's folder. */
  root: string;
  /** Of this package. */
  version: string;
  /** Writes nothing. */
  dryRun: boolean;
  /** Does not ask. */
  yes: boolean;
  print: (text: string) => void;
}

/** @throws CliError when it cannot go on, and when it cannot ask. */
export async function init(options: InitOptions): Promise<void> {
  const { version, dryRun, yes, print } = options;
  const workspace = await findWorkspace(options.root);
  const root = workspace?.root ?? options.root;
  const plan = workspace
    ? await makeWorkspacePlan(workspace, version)
    : await makePlan(root, version);
  if (workspace && root !== options.root) print(`In ${root}:\n`);
  for (const change of plan.changes) print(diffOf(change));
  if (plan.changes.length === 0) {
    print(
      plan.byHand.length === 0
        ? `Nothing to change: the limits are in ${[...new Set(plan.present)].join(", ")} already.`
        : "There is nothing that init can change by itself.",
    );
  } else if (dryRun) {
    print("Nothing was written, because of --dry-run.");
  } else {
    if (!yes && !(await isAgreed(plan.changes.length))) {
      print("Nothing was written.");
      return;
    }
    for (const change of plan.changes) {
      await writeChange(root, change);
      print(`${change.before === undefined ? "Wrote" : "Changed"} ${change.file}`);
    }
  }
  printRest(plan, print);
}

/** @throws CliError when nobody is there to answer. */
async function isAgreed(count: number): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new CliError(
      "nothing was written: this is not a terminal, so init cannot ask. " +
        "Run it with --yes to write these changes, or with --dry-run to see them only",
    );
  }
  const files = count === 1 ? "this file" : `these ${count} files`;
  const answer = await confirm({ message: `Write ${files}?` });
  return !isCancel(answer) && answer;
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
