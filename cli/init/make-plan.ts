/**
 * Looks at a project and plans all changes, without writing anything: the package, the table, the limits,
 * and the wiring of tRPC. A single application is treated as a monorepo with one member.
 */
import { CliError } from "../cli-error.js";
import { addDrizzleTable } from "./add-drizzle-table.js";
import { SUPABASE_ROLES } from "../visitors-sql.js";
import { type AddedTable, addPrismaTable, addSql, type TableOptions } from "./add-table.js";
import { findDatabase } from "./database.js";
import { addPackage, addZod } from "./dependency.js";
import { Draft } from "./draft.js";
import { addLimits, limitsFileOf, presentLimits } from "./limits-file.js";
import { nextSteps } from "./next-steps.js";
import type { Plan } from "./plan.js";
import type { Project } from "./project.js";
import { seesSupabase } from "./sees-supabase.js";
import { findStorage } from "./storage.js";
import { userPlanSteps } from "./user-plan-step.js";
import { websOf, wireClient } from "./wire-client.js";
import { handlersOf, wireServer } from "./wire-server.js";

/**
 * @param version the version of this package.
 * @param now epoch ms, for the name of a migration.
 * @throws CliError when limits cannot be kept in the project's database.
 */
export async function makePlan(project: Project, version: string, now: number): Promise<Plan> {
  refuse(project);
  const { api, db, root } = project;
  const draft = new Draft(root);
  const handlers = handlersOf(project).map(({ member }) => member);
  const importing = new Set([api, ...handlers, ...websOf(project)]);
  const isListed = await addPackage(draft, project, [...importing], version);

  const limits = presentLimits(project) ?? (await limitsFileOf(project));
  if (project.trpcFile !== undefined) await addZod(draft, project, [api, ...handlers]);
  const closedTo = (await seesSupabase(project)) ? SUPABASE_ROLES : [];
  const table = await addTable(draft, project, limits, { closedTo, now });
  const { storage } = table;
  const database = await findDatabase(db?.member ?? api, storage, (file) => draft.readCode(file));
  const options = { draft, project, limits, database };
  const isNew = presentLimits(project) === undefined;
  if (isNew) await addLimits(draft, { project, file: limits, storage, database });
  else draft.seen(limits);
  await wireServer(options);
  const client = await wireClient(draft, project);

  if (table.note !== undefined) draft.note(table.note);
  if (storage.kind === "memory") {
    draft.note(
      "No database client was found, so the limits are in the memory of one process; " +
        "docs/stores.md of trpc-rate-limit lists the other stores.",
    );
  }
  const plan = draft.plan();
  const isChanged = plan.changes.some(({ file }) =>
    /(^|\/)(package\.json|pnpm-workspace\.yaml)$/.test(file),
  );
  if (!isListed) plan.install = [project.packageManager, addCommand(project), "trpc-rate-limit"];
  else if (isChanged) plan.install = [project.packageManager, "install"];
  else if (plan.byHand.some(({ file }) => file.endsWith("package.json"))) {
    plan.next.push(`${project.packageManager} install`);
  }
  plan.next.push(...(await nextSteps({ project, table, limits, client })));
  // Only for a new limiter: an existing limiter may already say its plans, and has other limits.
  if (isNew) plan.next.push(...(await userPlanSteps({ project, limits, database })));
  return plan;
}

const addCommand = ({ packageManager }: Project) => (packageManager === "npm" ? "install" : "add");

async function addTable(
  draft: Draft,
  project: Project,
  limits: string,
  options: TableOptions,
): Promise<AddedTable> {
  const { db, api } = project;
  if (db?.orm === "prisma") return addPrismaTable(draft, db.member, options);
  if (db?.orm === "drizzle") return addDrizzleTable(draft, db.member, options);
  const storage = findStorage(api);
  return storage.kind === "memory"
    ? { storage, isNew: false }
    : addSql(draft, storage, storage.dialect, limits, options);
}

function refuse({ members, db }: Project): void {
  if (members.some(({ packages }) => packages.has("@planetscale/database"))) {
    throw new CliError(
      "the application uses PlanetScale, whose Vitess cannot keep limits; docs/databases.md of " +
        "trpc-rate-limit lists databases that can",
    );
  }
  const sources = [...(db?.member.sources.values() ?? [])];
  if (sources.some((text) => /["']@prisma\/adapter-d1["']/.test(text))) {
    throw new CliError(
      "the application uses Prisma on Cloudflare D1, with a client for each request, which init " +
        "cannot wire; docs/guides/workers.md of trpc-rate-limit says how to do it by hand",
    );
  }
}
