/** What the author of a monorepo does after `init`. */
import { indented } from "../anchors.js";
import { importText } from "../import-text.js";
import { COUNTDOWN, DOCTOR_STEP, mysqlStep } from "../next-steps.js";
import { tableOf } from "../prisma-schema.js";
import type { WiredClient } from "./client.js";
import type { WorkspaceTable } from "./table.js";
import { sourceWith, type Workspace } from "./workspace.js";

export interface NextSteps {
  workspace: Workspace;
  table: WorkspaceTable | undefined;
  limits: string;
  client: WiredClient | undefined;
}

export function nextSteps({ workspace, table, limits, client }: NextSteps): string[] {
  const { packageManager } = workspace;
  return [
    `${packageManager} install`,
    ...tableSteps(workspace, table),
    procedureStep(workspace, limits, client),
    countdownStep(client),
    DOCTOR_STEP,
  ];
}

function tableSteps(workspace: Workspace, table: WorkspaceTable | undefined): string[] {
  const { packageManager, scripts, db } = workspace;
  if (table === undefined || db === undefined || !table.isNew) return [];
  const run = (script: string) => `${packageManager} run ${script}`;
  const folder = db.member.folder;
  const otherwise = (command: string) => `${command}, in ${folder}`;
  if (table.storage.kind === "prisma") {
    const generate = scripts.has("db:generate")
      ? run("db:generate")
      : otherwise("npx prisma generate");
    if (table.provider === "mysql") return [mysqlStep(tableOf(table.storage.model)), generate];
    const push = scripts.has("db:push") ? run("db:push") : otherwise("npx prisma db push");
    const migrate = scripts.has("db:migrate") ? ` (or ${run("db:migrate")})` : "";
    return [push + migrate, generate];
  }
  if (!scripts.has("db:push")) {
    // As on D1, whose migrations run when the Worker is deployed.
    const isGenerated = scripts.has("db:generate");
    return [isGenerated ? run("db:generate") : otherwise("npx drizzle-kit push")];
  }
  const migrates = scripts.has("db:generate") && scripts.has("db:migrate");
  const migrate = migrates ? ` (or ${run("db:generate")} && ${run("db:migrate")})` : "";
  return [run("db:push") + migrate];
}

const withLines = (step: string, lines: string) => `${step}:\n\n${indented(lines, "  ")}\n`;

function procedureStep(
  { api, trpcFile }: Workspace,
  limits: string,
  client: WiredClient | undefined,
): string {
  const routers = sourceWith(api, /\.mutation\(/);
  const place = routers === undefined ? "" : `, such as one in ${routers}`;
  const link = client === undefined ? "" : `, and name it to the link in ${client.links}`;
  return withLines(
    `limit a procedure${place}, with rateLimited of ${trpcFile} and the limits of ${limits}${link}`,
    `create: publicProcedure
  .input(…)
  .use(rateLimited("createPost")) // after the input, so that invalid input costs nothing
  .mutation(…),

rateLimitLink<AppRouter>({ limits: { "post.create": "createPost" } }),`,
  );
}

function countdownStep(client: WiredClient | undefined): string {
  if (client === undefined) {
    return "show the countdown in the client: docs/react.md of trpc-rate-limit, or docs/without-react.md";
  }
  return withLines(
    `show the countdown in a component, with the hooks of ${client.hooks}`,
    `${importText("…", ["RateLimitCountdown", "useRateLimit"])}

${COUNTDOWN}`,
  );
}
