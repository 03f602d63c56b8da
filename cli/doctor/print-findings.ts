/** Shows findings to people. */
import { styleText } from "node:util";
import type { Finding } from "./finding.js";

const MARKS = { ok: "ok     ", advice: "advice ", warning: "warning", error: "error  " };
const COLOURS = { ok: "green", advice: "cyan", warning: "yellow", error: "red" } as const;

export function textOf(findings: readonly Finding[], isColoured: boolean): string {
  const lines = findings.map(({ check, level, message, advice }) => {
    const mark = isColoured ? styleText(COLOURS[level], MARKS[level]) : MARKS[level];
    const todo = advice === undefined ? "" : `\n         -> ${advice}`;
    return `${mark}  ${check}: ${message}${todo}`;
  });
  const count = (level: Finding["level"]) => findings.filter((one) => one.level === level).length;
  const counted = (level: "error" | "warning") =>
    `${count(level)} ${level}${count(level) === 1 ? "" : "s"}`;
  return [...lines, "", `${counted("error")}, ${counted("warning")}`].join("\n");
}
