/** Plans all changes, without writing anything: the package, the table, the limits, and what they are wired to. */
import { Draft } from "./draft.js";
import { addTable } from "./edits/add-table.js";
import { addDatabasePackage, addPackage, addPeer } from "./edits/dependency.js";
import { addLimits } from "./edits/limits-file.js";
import { wireClient } from "./edits/wire-client.js";
import { wireHttp } from "./edits/wire-http.js";
import { wireServer } from "./edits/wire-server.js";
import type { Application } from "./facts/application.js";
import { memberOf } from "./facts/member.js";
import { TRPC_10 } from "./facts/refuse.js";
import type { Plan, WhyRefused } from "./plan.js";
import { nextSteps } from "./printed/next-steps.js";
import { npmStep } from "./printed/trpc-10-steps.js";
import { userPlanSteps } from "./printed/user-plan-step.js";

/**
 * @param version the version of this package.
 * @param now epoch ms, for the name of a migration.
 * @param whyRefused why an edit of a file is left to its author.
 */
export async function makePlan(
  app: Application,
  version: string,
  now: number,
  whyRefused?: WhyRefused,
): Promise<Plan> {
  const draft = new Draft(app.project.root, whyRefused);
  const isListed = await addPackages(draft, app, version);
  const { database, closedTo, limits } = app;
  const table = await addTable(draft, database, limits.file, { closedTo, now });
  await writeLimits(draft, app);
  await wireServer(draft, app);
  await wireClient(draft, app.project, app.webs);
  await wireHttp(draft, app);

  if (database.storage.kind === "memory") draft.note(IN_MEMORY);
  if (app.withTrpc10) draft.note(TRPC_10);
  const plan = draft.plan();
  planInstall(plan, app, isListed);
  plan.next.push(...(await nextSteps(app, table)));
  // Only for a new limiter: an existing limiter may already say its plans, and has other limits.
  if (limits.isNew) plan.next.push(...userPlanSteps(app));
  return plan;
}

const ZOD = ["zod", "^4.0.0"] as const;
const QUERY = ["@tanstack/react-query", "^5.0.0"] as const;

const IN_MEMORY =
  "No database client was found, so the limits are in the memory of one process; " +
  "docs/stores.md of trpc-rate-limit lists the other stores.";

/** Resolves with whether package.json names this package afterwards. */
async function addPackages(draft: Draft, app: Application, version: string): Promise<boolean> {
  const { project, trpc, servers, http } = app;
  const pages = http?.wired ? [http.wired.page.member] : [];
  const makers = trpc?.caller.needsAddress ? trpc.makers : [];
  const importing = [
    project.api,
    ...servers,
    ...[...app.webs, ...makers].map((each) => each.member),
    ...pages,
  ];
  const isListed = await addPackage(draft, project, [...new Set(importing)], version);
  // `/trpc` parses what clients send with Zod, and `/fetch/react` has its mutations from TanStack Query.
  if (project.trpcFile !== undefined) await addPeer(draft, project, [project.api, ...servers], ZOD);
  await addPeer(draft, project, pages, QUERY);
  return isListed;
}

async function writeLimits(draft: Draft, app: Application): Promise<void> {
  const { project, limits, database } = app;
  if (!limits.isNew) return draft.seen(limits.file);
  const { client } = database;
  if (client.kind !== "none") {
    const owner = memberOf(project.members, client.file);
    await addDatabasePackage(draft, project, project.api, owner);
  }
  return addLimits(draft, { project, file: limits.file, database });
}

function planInstall(plan: Plan, { project, withTrpc10 }: Application, isListed: boolean): void {
  const { packageManager } = project;
  const isChanged = plan.changes.some(({ file }) =>
    /(^|\/)(package\.json|pnpm-workspace\.yaml)$/.test(file),
  );
  if (!isListed) {
    const add = packageManager === "npm" ? "install" : "add";
    plan.install = [packageManager, add, "trpc-rate-limit"];
  } else if (isChanged) plan.install = [packageManager, "install"];
  else if (plan.byHand.some(({ file }) => file.endsWith("package.json"))) {
    plan.next.push(`${packageManager} install`);
  }
  if (withTrpc10 && plan.install?.[0] === "npm") {
    delete plan.install;
    plan.next.push(npmStep(withTrpc10.members));
  }
}
