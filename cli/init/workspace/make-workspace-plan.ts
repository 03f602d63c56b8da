/**
 * Plans `init` for a monorepo, such as those of create-better-t-stack and create-t3-turbo: the table
 * in the package of the database, the limits beside the package's tRPC, and the applications.
 */
import { CliError } from "../../cli-error.js";
import type { Plan } from "../plan.js";
import type { Storage } from "../storage.js";
import { planClient } from "./client.js";
import { addToMembers } from "./dependencies.js";
import { Draft } from "./draft.js";
import { findDatabaseOf, limitsText, type Database } from "./limits.js";
import { nextSteps } from "./next-steps.js";
import { planServer } from "./server.js";
import { addDrizzleTable, addPrismaTable, type WorkspaceTable } from "./table.js";
import { sourceWith, type Workspace } from "./workspace.js";

/**
 * @param version of this package.
 * @throws CliError when limits cannot be kept in the monorepo's database.
 */
export async function makeWorkspacePlan(workspace: Workspace, version: string): Promise<Plan> {
  refuse(workspace);
  const { api, db, users, root, trpcFile } = workspace;
  const draft = new Draft(root);
  const webs = users.filter(
    (user) => user.packages.has("react") && user.packages.has("@trpc/client"),
  );
  await addToMembers(draft, workspace, [api, ...webs], version);

  let table: WorkspaceTable | undefined;
  if (db?.orm === "prisma") table = await addPrismaTable(draft, db.member);
  if (db?.orm === "drizzle") table = await addDrizzleTable(draft, db.member);
  const storage: Storage = table?.storage ?? { kind: "memory" };
  const database: Database =
    db && table ? await findDatabaseOf(workspace, db.member, table.storage) : { kind: "none" };

  const present = sourceWith(api, /\bcreateRateLimiter\(/);
  const limits = present ?? trpcFile.replace(/[^/]*$/, "limits.ts");
  if (present !== undefined) draft.seen(present);
  else {
    const options = { workspace, file: limits, storage, database, tableOf: db?.member };
    const text = await limitsText(options);
    if (db !== undefined && database.kind === "none") {
      draft.byHand(limits, "no database client was found; import yours as `db`", text);
      draft.stop(limits);
    } else await draft.create(limits, text);
  }
  await planServer(draft, workspace, limits, database);
  const client = await planClient(draft, workspace, webs);

  const plan = draft.plan();
  if (table?.note !== undefined) plan.notes.push(table.note);
  if (db === undefined) {
    plan.notes.push(
      "No schema of Drizzle or Prisma was found in a package, so the limits are in the memory of " +
        "one process; docs/stores.md of trpc-rate-limit lists the other stores.",
    );
  }
  plan.next.push(...nextSteps({ workspace, table, limits, client }));
  return plan;
}

function refuse({ members, db }: Workspace): void {
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
