/** The lines behind the button, taken from the files that run, and what each line does. */
import type { Code, CodePiece } from "../shared/page/code.js";
import limits from "code:./limits.ts";
import button from "code:./send-button.tsx";
import server from "code:./server.ts";

/**
 * `send`: the call goes out. `decide`: the server decides. `grant`: the server runs the procedure.
 * `wait`: the button waits.
 */
export type Act = "send" | "decide" | "grant" | "wait";

/** A line does the act beside the first of these texts that it contains. */
const ACTS: readonly (readonly [text: string, act: Act])[] = [
  ["sendHello: {", "decide"],
  [".use(rl.rateLimited", "decide"],
  [".mutation(", "grant"],
  ["onClick={", "send"],
  [`"Wait "`, "wait"],
  ["<RateLimitCountdown", "wait"],
];

interface Line {
  pieces: readonly CodePiece[];
  act: Act | undefined;
}

/** The lines from the line with `first` to the line that begins with `last`, moved to the left. */
function excerpt({ text, lines }: Code, first: string, last: string): Line[] {
  const texts = text.split("\n");
  const start = texts.findIndex((each) => each.includes(first));
  const end = texts.findIndex((each, index) => index >= start && each.trimStart().startsWith(last));
  if (start === -1 || end === -1) throw new Error(`The code from ${first} to ${last} is gone`);
  const indent = texts[start]!.length - texts[start]!.trimStart().length;
  return lines.slice(start, end + 1).map((pieces, index) => ({
    pieces: withoutIndent(pieces, indent),
    act: ACTS.find(([each]) => texts[start + index]!.includes(each))?.[1],
  }));
}

/** An indent is the beginning of the first piece. */
function withoutIndent([first, ...rest]: readonly CodePiece[], indent: number): CodePiece[] {
  return typeof first === "string" ? [first.slice(indent), ...rest] : first ? [first, ...rest] : [];
}

const caption = (text: string): Line => ({ pieces: [["comment", `// ${text}`]], act: undefined });
const empty: Line = { pieces: [], act: undefined };

export const SHOWN_LINES: readonly Line[] = [
  caption("The limit, for each visitor: limits.ts"),
  ...excerpt(limits, "sendHello: {", "sendHello: {"),
  empty,
  caption("The procedure: server.ts"),
  ...excerpt(server, "send: t.procedure", ".mutation("),
  empty,
  caption("The component: send-button.tsx"),
  ...excerpt(button, "export function SendButton", "}"),
];
