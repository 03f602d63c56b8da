/** What `verify` reports, for people, for scripts, and for an issue. */
import type { Finding } from "../doctor/finding.js";
import type { RaceResult } from "./run-race.js";
import type { GroupResult } from "./run-contract.js";

export interface VerifyReport {
  /** Whether everything held. */
  held: boolean;
  versions: {
    package: string;
    node: string;
    platform: string;
    /** With its version. */
    driver: string;
    /** What the server reports. */
    engine: string;
    vendor: string | undefined;
  };
  settings: Record<string, string>;
  contract: GroupResult[];
  race: RaceResult[];
  /** The findings of the checks of the server. */
  findings: Finding[];
  /** Whether the tables or keys of the run were removed. */
  isRemoved: boolean;
}

export function groupLine({ group, passed, failed, skipped, seconds }: GroupResult): string {
  const counts = [`${passed} passed`];
  if (failed.length > 0) counts.push(`${failed.length} FAILED`);
  if (skipped.length > 0) counts.push(`${skipped.length} skipped`);
  const lines = failed.map(({ test, message }) => `\n           ${test}: ${message}`);
  return `contract   ${group}: ${counts.join(", ")}, ${seconds.toFixed(1)} s${lines.join("")}`;
}

export function raceLine(result: RaceResult): string {
  const lines = problemsOf(result).map((problem) => `\n           ${problem}`);
  const { granted, tokens, lost, rounds, median } = result;
  const unknown = lost > 0 ? `, ${lost} taken by killed processes` : "";
  return (
    `race       ${titleOf(result)}: ${granted} of ${tokens} granted in ${rounds} rounds${unknown}, ` +
    `median ${median.toFixed(1)} ms${lines.join("")}`
  );
}

export function findingLine({ check, level, message, advice }: Finding): string {
  const todo = advice === undefined ? "" : `\n           -> ${advice}`;
  return `server     ${level === "error" ? "FAILED" : level}, ${check}: ${message}${todo}`;
}

function titleOf({ kind, keys, isKilled }: RaceResult): string {
  const how = isKilled ? ", one process killed" : "";
  return `${kind}, ${keys === 1 ? "1 key" : `${keys} keys`}${how}`;
}

/** Each problem once. */
function problemsOf({ problems }: RaceResult): string[] {
  return [...new Set(problems)].map((problem) => {
    const times = problems.filter((each) => each === problem).length;
    return `FAILED${times > 1 ? ` ${times} times` : ""}: ${problem}`;
  });
}

/** Has no names of hosts and no keys if `report` has none. */
export function markdownOf(report: VerifyReport): string {
  const { held, versions, settings, contract, race, findings, isRemoved } = report;
  const { vendor = "–" } = versions;
  const settled = Object.entries(settings).map(([name, value]) => `\`${name}=${value}\``);
  const facts: [string, string][] = [
    ["trpc-rate-limit", versions.package],
    ["Node.js", `${versions.node}, ${versions.platform}`],
    ["driver", versions.driver],
    ["server", versions.engine],
    ["service", vendor],
    ["settings", settled.join(", ") || "–"],
  ];
  return [
    `### trpc-rate-limit verify: ${held ? "everything held" : "something did NOT hold"}`,
    tableOf(["", ""], facts),
    tableOf(
      ["contract", "passed", "failed", "skipped", "seconds"],
      contract.map(({ group, passed, failed, skipped, seconds }) => [
        group,
        `${passed}`,
        `${failed.length}`,
        `${skipped.length}`,
        seconds.toFixed(1),
      ]),
    ),
    tableOf(
      [
        "race of 3 processes",
        "rounds",
        "granted",
        "of",
        "lost with a process",
        "median ms",
        "held",
      ],
      race.map((each) => [
        titleOf(each),
        `${each.rounds}`,
        `${each.granted}`,
        `${each.tokens}`,
        `${each.lost}`,
        each.median.toFixed(1),
        each.problems.length === 0 ? "yes" : "NO",
      ]),
    ),
    listOf([
      ...contract.flatMap(({ failed }) =>
        failed.map(({ test, message }) => `failed: ${test}: ${message}`),
      ),
      ...reasonsOf(contract),
      ...race.flatMap((each) => problemsOf(each).map((problem) => `${titleOf(each)}: ${problem}`)),
      ...findings
        .filter(({ level }) => level !== "ok")
        .map(({ check, level, message }) => `${level} of \`${check}\`: ${message}`),
      ...(isRemoved ? [] : ["the tables or keys of this run could not be removed"]),
    ]),
  ]
    .filter(Boolean)
    .join("\n\n");
}

/** Why tests were skipped, each reason once. */
function reasonsOf(contract: readonly GroupResult[]): string[] {
  const reasons = contract.flatMap(({ skipped }) => skipped.map(({ reason }) => reason));
  return [...new Set(reasons)].map((reason) => `skipped: ${reason}`);
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function listOf(lines: readonly string[]): string {
  return lines.map((line) => `- ${line.replaceAll("\n", " ")}`).join("\n");
}
