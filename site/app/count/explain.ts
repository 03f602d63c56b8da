/** What a run shows, in words: the verdict, and in one sentence what went wrong. */
import { CALLS, LIMIT, type Run, type Step } from "./engine/run.js";

/** For example "37 of 10". */
export function verdictOf({ granted }: Run): string {
  return `${granted} of ${LIMIT}`;
}

/** Whether the code has counted to ten: ten grants, a denial of every other call, and no error. */
export function isExact({ granted, failure, stopped }: Run): boolean {
  return granted === LIMIT && failure === "" && stopped === "";
}

/** The moment the eleventh got in, or what there is instead of it, in a few words. */
export function momentOf({ steps, eleventh, granted, failure, stopped }: Run): string {
  if (eleventh !== undefined) {
    const { at, process } = steps[eleventh]!;
    return `The eleventh got in after ${at.toFixed(1)} ms, by process ${process + 1}.`;
  }
  if (stopped !== "") return "The run was stopped.";
  if (granted < LIMIT) return `${LIMIT - granted} calls too few were granted.`;
  return failure === "" ? "No eleventh got in." : "No eleventh got in, and some calls failed.";
}

export function explain(run: Run): string {
  const { granted, failure, stopped, answers } = run;
  if (stopped !== "") {
    return `The run was stopped after ${answers.length} of ${CALLS} answers. ${ended(stopped)}`;
  }
  const failed = failure === "" ? "" : ` Some calls failed: ${ended(failure)}`;
  if (granted > LIMIT) return whyTooMany(run) + failed;
  if (granted < LIMIT) return `${LIMIT - granted} calls too few were granted.${failed}`;
  return `Ten calls were granted, and no eleventh.${failed}`;
}

function whyTooMany({ steps, eleventh, answers }: Run): string {
  const { process, call } = steps[eleventh!]!;
  const own = stepsOf(steps, { process, call });
  const [first] = own;
  if (first === undefined && steps.length === answers.length) {
    return `No call asked the table: each process counted by itself, and let ${grantsOf(steps, 0)} and ${grantsOf(steps, 1)} calls pass.`;
  }
  const [early, lost] = readersOf(steps);
  if (early + lost > LIMIT) {
    const rest = lost > 0 ? `, and ${lost} more read a count from which writes were lost` : "";
    return `${early} calls read the count before ten of them were written${rest}.`;
  }
  return first === undefined
    ? "The eleventh call was granted without a question to the table."
    : `The table answered the eleventh call by “${own.at(-1)!.text}”, and the code took that for a yes.`;
}

const isAnswer = ({ kind }: Step) => ["granted", "denied", "failed"].includes(kind);

/** The statements of a call, in their order at the table. */
function stepsOf(steps: readonly Step[], of: Pick<Step, "process" | "call">): Step[] {
  return steps.filter(
    (step) => step.process === of.process && step.call === of.call && !isAnswer(step),
  );
}

function grantsOf(steps: readonly Step[], process: number): number {
  return steps.filter((step) => step.kind === "granted" && step.process === process).length;
}

/**
 * Of the granted calls that read the count in one statement and write it in another one: how many have read
 * before the tenth of them has written, and how many later.
 */
function readersOf(steps: readonly Step[]): [early: number, late: number] {
  const calls = steps
    .filter(({ kind }) => kind === "granted")
    .map((granted) => stepsOf(steps, granted))
    .filter(([read, ...later]) => read?.kind === "read" && later.length > 0)
    .map(([read, write]) => ({ read: steps.indexOf(read!), write: steps.indexOf(write!) }));
  const tenth = calls.map(({ write }) => write).toSorted((a, b) => a - b)[LIMIT - 1] ?? Infinity;
  const early = calls.filter(({ read }) => read < tenth).length;
  return [early, calls.length - early];
}

/** The text as a sentence. */
function ended(text: string): string {
  const sentence = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
