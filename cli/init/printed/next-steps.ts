/** The steps that the author of an application has to take after `init`, with their lines. */
import { BROKEN } from "../../broken-versions.js";
import { satisfies } from "../../doctor/check-versions.js";
import type { AddedTable } from "../edits/added-table.js";
import type { Application } from "../facts/application.js";
import type { Project } from "../facts/project.js";
import { handlersOf } from "../facts/server.js";
import { versionOf } from "../facts/versions.js";
import { httpSteps } from "./http-steps.js";
import { tableSteps } from "./table-steps.js";
import { trpc10Steps } from "./trpc-10-steps.js";
import { trpcSteps } from "./trpc-steps.js";

export async function nextSteps(app: Application, table: AddedTable): Promise<string[]> {
  const { project, database } = app;
  return [
    ...(await versionSteps(app)),
    ...(await tableSteps(project, database, table)),
    ...usageSteps(app),
    ...proofSteps(app),
  ];
}

/** Packages of the database with which the limits would go wrong. */
async function versionSteps({ project, database: { member } }: Application): Promise<string[]> {
  const steps: string[] = [];
  for (const { name, versions, why, instead } of BROKEN) {
    const found = member.packages.has(name) && (await versionOf(project, member, name));
    if (!found || !satisfies(found, versions)) continue;
    const at = member.folder === "" ? "" : `, in ${member.folder}`;
    steps.push(`take ${name} ${instead} in place of ${found}${at}: ${why}`);
  }
  return steps;
}

function usageSteps(app: Application): string[] {
  const { project, withTrpc10, limits, webs, example } = app;
  if (withTrpc10) return trpc10Steps(withTrpc10, limits.file, example);
  return app.http === undefined
    ? trpcSteps({ project, limits: limits.file, webs, example })
    : httpSteps(app);
}

/** Commands that show that the limits work. */
function proofSteps({ project, database, http }: Application): string[] {
  // Package managers put a command where the package is listed.
  const { folder } = project.api;
  const at = folder === "" ? "" : `, in ${folder}`;
  const wired = http?.wired && `${originOf(project, http.wired.host.file)}${http.wired.host.url}`;
  if (project.trpcFile !== undefined || wired !== undefined) {
    return [
      `npx trpc-rate-limit doctor --app ${wired ?? urlOf(project)}${at}, while the application runs: it checks ` +
        "the database and the table, and watches a limit",
    ];
  }
  const doctor = `npx trpc-rate-limit doctor${at}, which checks the database and the table`;
  const calls =
    'for i in 1 2 3 4; do curl -s -o /dev/null -w "%{http_code}\\n" -X POST ' +
    "http://localhost:3000/posts; done, while the application runs: the last answer is 429";
  return database.storage.kind === "memory" ? [calls] : [doctor, calls];
}

/** The URL of tRPC on this machine, as far as the code shows it. */
function urlOf(project: Project): string {
  const [handler] = handlersOf(project);
  const text = handler?.member.sources.get(handler.file) ?? "";
  const named =
    /\b(?:endpoint|prefix|basePath)\s*:\s*["'`](\/[\w/-]*)["'`]/.exec(text)?.[1] ??
    /\.(?:use|all)\(\s*["'`](\/[\w/-]*?)\/?\*?["'`]\s*,[\s\S]{0,80}?\b(?:trpcServer|createExpressMiddleware)\b/.exec(
      text,
    )?.[1];
  const isPages = /\bcreateNextApiHandler\b/.test(text);
  const path = named ?? (isPages || handler?.member.packages.has("next") ? "/api/trpc" : "");
  return `${originOf(project, handler?.file)}${path}`;
}

/** Where the server in a file listens on this machine, as far as the code shows it. */
function originOf({ members }: Project, file: string | undefined): string {
  const text = members.flatMap(({ sources }) => sources.get(file ?? "") ?? [])[0] ?? "";
  const port =
    /\bport\s*:\s*(\d{2,5})\b/.exec(text)?.[1] ??
    /\.listen\(\s*(\d{2,5})\b/.exec(text)?.[1] ??
    "3000";
  return `http://localhost:${port}`;
}
