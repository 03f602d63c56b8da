/**
 * Makes a plan that the compiler of the application accepts. An edit that adds an error is taken back:
 * its lines are printed, and its file stays as it is.
 */
import { readText } from "../files/files.js";
import type { Plan, WhyRefused } from "../plan.js";
import type { Project } from "../facts/project.js";
import { missingImport } from "./missing-imports.js";
import { type FoundError, isOnNewLine, suspects } from "./new-errors.js";
import { reasonOf } from "./not-checked.js";
import { CODE } from "./shadow.js";
import { TscCheck } from "./tsc-check.js";
import { findTscProjects } from "./tsc-projects.js";

export interface CheckOptions {
  project: Project;
  make: (whyRefused: WhyRefused) => Promise<Plan>;
  print: (text: string) => void;
  /** How long a compiler may run, in ms. @default 3 minutes */
  timeLimit?: number;
}

export async function checkedPlan(options: CheckOptions): Promise<Plan> {
  const { project } = options;
  const refused = new Map<string, string>();
  const plan = await withImports(options, refused);
  const touched = codeOf(plan);
  const projects = await findTscProjects(project, touched);
  const isTyped = touched.some((file) => /\.[cm]?tsx?$/.test(file));
  if (touched.length === 0 || (projects.length === 0 && !isTyped)) return plan;
  if (projects.length === 0) return noted(plan, "Not checked by tsc: there is no tsconfig.json.");
  const compiler = projects.map((each) => each.compiler).find(Boolean);
  if (compiler === undefined) {
    return noted(plan, "Not checked by tsc, because typescript is not installed here.");
  }
  options.print("Checking with tsc…\n");
  let check: TscCheck | undefined;
  try {
    check = await TscCheck.open({
      project,
      projects: projects.map((each) => ({ ...each, compiler: each.compiler ?? compiler })),
      changes: plan.changes,
      timeLimit: options.timeLimit ?? 180_000,
    });
    return await withTypes(options, check, plan, refused);
  } catch (error) {
    return noted(plan, `Not checked by tsc, because ${reasonOf(error)}.`);
  } finally {
    await check?.close();
  }
}

const codeOf = ({ changes }: Plan) => changes.flatMap(({ file }) => (CODE.test(file) ? file : []));
const noted = (plan: Plan, note: string): Plan => ({ ...plan, notes: [...plan.notes, note] });

/** The plan without edits whose imports lead to nothing. */
async function withImports(
  { project, make }: CheckOptions,
  refused: Map<string, string>,
): Promise<Plan> {
  for (;;) {
    const plan = await make((file) => refused.get(file));
    const missing = await missingImport(project, plan);
    if (missing === undefined || refused.has(missing.file)) return plan;
    refused.set(missing.file, `its import of ${missing.from} would lead to nothing`);
  }
}

/**
 * The plan without edits that add an error. If it cannot be known which edits are right, none is made.
 *
 * @throws NotChecked if nothing is known of any edit.
 */
async function withTypes(
  { project, make }: CheckOptions,
  check: TscCheck,
  first: Plan,
  refused: Map<string, string>,
): Promise<Plan> {
  const most = refused.size + codeOf(first).length;
  let plan = first;
  let errors = await check.newErrors(plan.changes);
  /** The errors of the round before, and the file that was refused then. */
  let last: { errors: readonly FoundError[]; file: string } | undefined;
  while (errors.length > 0) {
    const error = errors[0]!;
    const why = whyOf(error);
    try {
      const file = await culpritOf(project, error, plan, check);
      if (file === undefined || refused.size === most) return await make(() => why);
      const isOld = last === undefined || last.errors.some((each) => isSame(each, error));
      refused.set(file, isOld ? why + inFile(error, file) : `it comes after ${last!.file}`);
      last = { errors, file };
      plan = await make((each) => refused.get(each));
      errors = await check.newErrors(plan.changes);
    } catch (failure) {
      reasonOf(failure);
      return make(() => why);
    }
  }
  return noted(plan, reportOf(check, codeOf(plan), [...refused.keys()]));
}

const isSame = (a: FoundError, b: FoundError) => a.file === b.file && a.message === b.message;
const inFile = ({ file }: FoundError, edited: string) => (file === edited ? "" : `, in ${file}`);

/** The file whose edit is the reason of an error. */
async function culpritOf(
  { root }: Project,
  error: FoundError,
  { changes }: Plan,
  check: TscCheck,
): Promise<string | undefined> {
  const code = changes.filter(({ file }) => CODE.test(file));
  const own = code.find(({ file }) => file === error.file);
  if (isOnNewLine(own, error.line)) return error.file;
  const text = own?.after ?? (await readText(root, error.file));
  const line = text?.split("\n")[error.line - 1] ?? "";
  for (const suspect of suspects(error, line, code)) {
    const others = code.filter((each) => each !== suspect);
    if (await check.isGone(error, others)) return suspect.file;
  }
  return undefined;
}

const OLD_RESOLUTION =
  'tsc finds no "exports" of packages: set "moduleResolution" of tsconfig.json to "bundler", or to "nodenext"';

/** The longest part of a message that is shown. */
const SHOWN = 160;

function whyOf({ code, message, detail }: FoundError): string {
  // The types of the package are there, so the settings of the compiler are old.
  if (/^Cannot find module 'trpc-rate-limit\b/.test(message)) return OLD_RESOLUTION;
  // "No overload matches this call." says nothing.
  const text = code === "TS2769" && detail !== "" ? detail : message;
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text.replace(/\.$/, "");
  return `tsc of this application says: ${code} ${shown}`;
}

function reportOf(check: TscCheck, touched: readonly string[], refused: readonly string[]): string {
  const folders = check.compiled.filter(Boolean);
  const where = folders.length === 0 ? "tsc" : `tsc of ${listed(folders)}`;
  const without = refused.length === 0 ? "" : ` without the edits of ${listed(refused)}`;
  const isUnseen = (file: string) => /\.[cm]?tsx?$/.test(file) && !check.files.has(file);
  const unseen = check.failures.size === 0 ? touched.filter(isUnseen) : [];
  return [
    `${where}: no new error${without}.`,
    ...[...check.failures].map(([config, why]) => `Not checked with ${config}, because ${why}.`),
    ...(unseen.length === 0 ? [] : [`Not checked: ${listed(unseen)}, in no tsconfig.json.`]),
  ].join(" ");
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
