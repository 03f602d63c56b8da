/** Looks at an application and plans everything, without writing anything. */
import { CliError } from "../cli-error.js";
import { addDependency, dependencyEntry } from "./dependency.js";
import { type Application, readApplication } from "./application.js";
import { planDrizzle } from "./drizzle-schema.js";
import { propose } from "./editable.js";
import { type LimitsFile, planLimits } from "./limits-file.js";
import { DOCTOR_STEP, migrationStep, mysqlStep, sqlStep, usageSteps } from "./next-steps.js";
import type { ByHand, Change, Plan } from "./plan.js";
import { planPrisma, tableOf } from "./prisma-schema.js";
import { findStorage, type Storage } from "./storage.js";
import { planTable } from "./table-file.js";
import { planWiring } from "./wire.js";

/**
 * @param version of this package.
 * @throws CliError when limits cannot be kept in the application's database.
 */
export async function makePlan(root: string, version: string): Promise<Plan> {
  const app = await readApplication(root);
  if (app.packages.has("@planetscale/database")) {
    throw new CliError(
      "the application uses PlanetScale, whose Vitess cannot keep limits; docs/databases.md of " +
        "trpc-rate-limit lists databases that can",
    );
  }
  const plan: Plan = { changes: [], byHand: [], present: [], notes: [], next: [] };
  await addPackage(plan, app, version);

  const limits =
    (await addPrisma(plan, app)) ?? (await addDrizzle(plan, app)) ?? (await addOther(plan, app));

  const hasLimits = limits.isPresent || plan.changes.some(({ file }) => file === limits.file);
  const wiring = await planWiring(app, limits.file, hasLimits);
  plan.changes.push(...wiring.changes);
  plan.byHand.push(...wiring.byHand);
  plan.present.push(...wiring.present);
  plan.next.push(...(await usageSteps(app, limits.file)), DOCTOR_STEP);
  return plan;
}

/** Adds what was planned for one file, or says that it is there. */
function add(
  plan: Plan,
  file: string,
  { change, byHand }: { change: Change | undefined; byHand: ByHand | undefined },
): void {
  if (change) plan.changes.push(change);
  else if (byHand) plan.byHand.push(byHand);
  else plan.present.push(file);
}

async function addPackage(plan: Plan, app: Application, version: string): Promise<void> {
  const file = "package.json";
  if (app.packages.has("trpc-rate-limit")) {
    plan.present.push(file);
    return;
  }
  const change = addDependency(app.packageJson, version);
  if (change === undefined) {
    const command = app.packageManager === "npm" ? "install" : "add";
    plan.next.push(`${app.packageManager} ${command} trpc-rate-limit`);
    return;
  }
  add(plan, file, await propose(app.root, change, dependencyEntry(version)));
  plan.next.push(`${app.packageManager} install`);
}

async function addPrisma(plan: Plan, app: Application): Promise<LimitsFile | undefined> {
  const prisma = await planPrisma(app.root);
  if (prisma === undefined) return undefined;
  add(plan, prisma.file, prisma);
  if (prisma.taken !== undefined) {
    plan.notes.push(`There is ${prisma.taken}, so the model of the limits is ${prisma.model}.`);
  }
  if (prisma.change ?? prisma.byHand) {
    plan.next.push(
      prisma.provider === "mysql"
        ? mysqlStep(tableOf(prisma.model))
        : migrationStep(app, "npx prisma migrate dev --name rate-limit"),
      "npx prisma generate",
    );
  }
  return addLimits(plan, app, { kind: "prisma", model: prisma.model });
}

async function addDrizzle(plan: Plan, app: Application): Promise<LimitsFile | undefined> {
  const drizzle = await planDrizzle(app.root, app.packages);
  if (drizzle === undefined) return undefined;
  const table = drizzle.table ?? { name: "rateLimits", file: "src/db/schema.ts" };
  add(plan, table.file, drizzle);
  plan.next.push(migrationStep(app, "npx drizzle-kit generate && npx drizzle-kit migrate"));
  const storage: Storage = { kind: "drizzle", table };
  // Without a table there is nothing that limits.ts could import.
  return addLimits(plan, app, storage, drizzle.byHand && "it needs the table");
}

async function addOther(plan: Plan, app: Application): Promise<LimitsFile> {
  const storage = await findStorage(app);
  const limits = await addLimits(plan, app, storage);
  if (storage.kind === "memory") {
    plan.notes.push(
      "No database client was found, so the limits are in the memory of one process; " +
        "docs/stores.md of trpc-rate-limit lists the other stores.",
    );
    return limits;
  }
  const table = await planTable(app, storage.dialect, limits.file);
  add(plan, table.file, table);
  plan.next.push(await sqlStep(app, storage.dialect, table.file));
  return limits;
}

/** @param obstacle keeps `limits.ts` from being written. */
async function addLimits(
  plan: Plan,
  app: Application,
  storage: Storage,
  obstacle?: string,
): Promise<LimitsFile> {
  const limits = await planLimits(app, storage);
  const { file, change } = limits;
  if (change && obstacle !== undefined) {
    plan.byHand.push({ file, why: obstacle, lines: change.after });
  } else add(plan, file, limits);
  return limits;
}
