/** What `init` does in an application that is not right there. */
import { join } from "node:path";
import { collectInit } from "./run-init.js";
import { type Folder, makeFolder } from "./scaffold.js";
import { type Fragment, isRefused, type Plan, type Shape } from "./shapes/shape.js";
import { type Importing, type Texts, unresolvedImports } from "./unresolved-imports.js";

interface Run {
  before: Texts;
  after: Texts;
  /** All that was printed beside the diffs. */
  said: string;
}

/** @returns a line for each problem. */
export async function shapeProblems({ files, right }: Shape, place: string): Promise<string[]> {
  await using app = await makeFolder(files);
  const before = await app.readAll();
  if (isRefused(right)) return await refusalProblems(app, place, before, right.refused);
  const printed = await collectInit(join(app.root, place));
  const said = printed.filter((text) => !text.startsWith("--- ")).join("\n");
  const run = { before, after: await app.readAll(), said };
  await collectInit(join(app.root, place));
  const again = await app.readAll();
  return [
    ...writtenProblems(run, right),
    ...printedProblems(run, right),
    ...neverProblems(run, right),
    ...importProblems(run),
    ...addressProblems(run),
    ...changedIn(run.after, again).map((file) => `${file} changes at the second run`),
  ];
}

async function refusalProblems(app: Folder, place: string, before: Texts, refused: RegExp) {
  const error = await collectInit(join(app.root, place)).then(
    () => "nothing was refused",
    (reason: Error) => reason.message,
  );
  const changed = changedIn(before, await app.readAll());
  return [
    ...(refused.test(error) ? [] : [`the refusal says: ${error}`]),
    ...changed.map((file) => `${file} was written`),
  ];
}

function writtenProblems({ before, after, said }: Run, plan: Plan): string[] {
  const { written = {}, somewhere = [], untouched = [], handled = [] } = plan;
  const lines = [said, ...addedCode({ before, after }).map(({ code }) => code)];
  const headings = new Set(handsOf(said).map(({ file }) => file));
  return [
    ...Object.entries(written).flatMap(([file, fragments]) =>
      fragments
        .filter((fragment) => !has(after[file] ?? "", fragment))
        .map((fragment) => `${file} has no ${fragment}`),
    ),
    ...somewhere
      .filter((fragment) => !lines.some((text) => has(text, fragment)))
      .map((fragment) => `nothing has ${fragment}`),
    ...untouched
      .filter((file) => after[file] !== before[file])
      .map((file) => `${file} was changed`),
    ...handled
      .filter((file) => after[file] === before[file] && !headings.has(file))
      .map((file) => `${file} is neither changed nor has lines by hand`),
  ];
}

function printedProblems({ said }: Run, { printed = [] }: Plan): string[] {
  return printed
    .filter((fragment) => !has(said, fragment))
    .map((fragment) => `it does not print ${fragment}`);
}

function neverProblems(run: Run, { never = [] }: Plan): string[] {
  const texts = [...addedCode(run), { file: "the output", code: run.said }];
  return never.flatMap((fragment) =>
    texts.flatMap(({ file, code }) => (has(code, fragment) ? [`${file} has ${fragment}`] : [])),
  );
}

/** Imports of files, and of the lines that are printed for a file. */
function importProblems(run: Run): string[] {
  const code = addedCode(run).filter(({ file }) => /\.[cm]?[jt]sx?$/.test(file));
  const hands = handsOf(run.said);
  const steps = [...run.said.matchAll(/^\d+\. make (\S+\.[jt]sx?)\b/gm)].map(([, file]) => file!);
  const made = [...hands.map(({ file }) => file), ...steps];
  return unresolvedImports(run.after, [...code, ...hands, ...stepsOf(run.said)], made);
}

/** No key reads an address from the context that nothing has put there. */
function addressProblems(run: Run): string[] {
  const code = addedCode(run).map((each) => each.code);
  const isRead = code.some((text) => text.includes("ctx.address"));
  const isThere = code.some((text) => /\baddress: (?!string)/.test(text));
  return isRead && !isThere ? ["a key reads ctx.address, and no context has it"] : [];
}

/** The lines that each file has in addition. */
function addedCode({ before, after }: Pick<Run, "before" | "after">): Importing[] {
  return changedIn(before, after).map((file) => {
    const old = new Set((before[file] ?? "").split("\n"));
    const lines = (after[file] ?? "").split("\n").filter((line) => !old.has(line));
    return { file, code: lines.join("\n") };
  });
}

function changedIn(before: Texts, after: Texts): string[] {
  const files = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...files].filter((file) => before[file] !== after[file]);
}

/** The blocks "By hand, in FILE (why):", each with its lines. */
function handsOf(said: string): Importing[] {
  const blocks = said.matchAll(/^By hand, in (\S+) \([^\n]*\):\n\n((?:(?: {4}[^\n]*)?\n?)*)/gm);
  return [...blocks].map(([, file, code]) => ({ file: file!, code: code! }));
}

/** The steps that show code for "such as FILE", or "as in FILE". */
function stepsOf(said: string): Importing[] {
  return said.split(/^\d+\. /m).flatMap((step) => {
    const file = /\bas (?:one in |in )?(\S+\.[jt]sx?)/.exec(step)?.[1];
    return file === undefined ? [] : [{ file, code: step }];
  });
}

function has(text: string, fragment: Fragment): boolean {
  if (typeof fragment !== "string") return fragment.test(text);
  return compact(text).includes(compact(fragment));
}

/** The text without what a formatter decides. */
const compact = (text: string) =>
  text
    .replaceAll("'", '"')
    .replaceAll(/\s+/g, "")
    .replaceAll(/,([\])}])/g, "$1");
