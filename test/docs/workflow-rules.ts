/** Rules of workflows that actionlint does not know. */
import { parse } from "yaml";

export interface Workflow {
  on: Record<string, unknown>;
  permissions?: Record<string, string>;
  jobs: Record<string, Job>;
}

interface Job {
  needs?: string | string[];
  uses?: string;
  permissions?: Record<string, string>;
  "timeout-minutes"?: number;
  steps?: { uses?: string; run?: string; with?: Record<string, unknown> }[];
}

/** What is wrong with the text of a workflow. */
export function problemsOfWorkflow(text: string): string[] {
  const { on, permissions, jobs } = parse(text) as Workflow;
  const problems: string[] = [];
  // It runs with the rights of the repository, on the code of a stranger.
  for (const event of ["pull_request_target", "workflow_run"]) {
    if (Object.hasOwn(Object(on) as object, event)) problems.push(`it runs on ${event}`);
  }
  if (permissions === undefined) problems.push("it names no permissions");
  for (const [scope, access] of Object.entries(permissions ?? {})) {
    if (access !== "read") problems.push(`it gives all jobs ${scope}: ${access}`);
  }
  for (const [name, job] of Object.entries(jobs)) {
    if (!job.uses && !job["timeout-minutes"]) problems.push(`job ${name} has no timeout-minutes`);
    for (const { uses, run = "", with: inputs = {} } of job.steps ?? []) {
      if (run.includes("${{"))
        problems.push(`job ${name} puts an expression into a script: ${run}`);
      if (uses === undefined) continue;
      problems.push(...problemsOfAction(uses, text));
      if (uses.startsWith("actions/checkout@") && inputs["persist-credentials"] !== false) {
        problems.push(`job ${name} keeps its credentials after the checkout`);
      }
    }
  }
  return problems;
}

function problemsOfAction(uses: string, text: string): string[] {
  // Whoever owns a tag can move it. A commit stays what it was.
  if (!/^[\w./-]+@[\da-f]{40}$/.test(uses)) return [`${uses} is not pinned to a commit`];
  const isNamed = new RegExp(`uses: ${uses} # v\\d`).test(text);
  return isNamed ? [] : [`${uses} does not say its version`];
}
