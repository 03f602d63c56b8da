/** Looks at an application and plans everything, without writing anything. */
import { CliError } from "../cli-error.js";
import { addDependency } from "./dependency.js";
import { readApplication } from "./application.js";
import { planDrizzle } from "./drizzle-schema.js";
import { planLimits, type Storage } from "./limits-file.js";
import type { Plan } from "./plan.js";
import { collationSql, planPrisma, tableOf } from "./prisma-schema.js";
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
  const plan: Plan = { changes: [], byHand: [], present: [], next: [] };

  if (app.packages.has("trpc-rate-limit")) plan.present.push("package.json");
  else {
    const change = addDependency(app.packageJson, version);
    if (change) plan.changes.push(change);
    plan.next.push(`${app.packageManager} install${change ? "" : " trpc-rate-limit"}`);
  }

  let storage: Storage | undefined;
  const run = (script: string) => `${app.packageManager} run ${script}`;
  const prisma = await planPrisma(root);
  const drizzle = prisma ? undefined : await planDrizzle(root, app.packages);
  if (prisma) {
    storage = { kind: "prisma", model: prisma.model };
    if (prisma.change === undefined) plan.present.push(prisma.file);
    else {
      plan.changes.push(prisma.change);
      plan.next.push(
        prisma.provider === "mysql"
          ? mysqlStep(tableOf(prisma.model))
          : migrationOf(app.scripts, run, "npx prisma migrate dev --name rate-limit"),
      );
    }
  } else if (drizzle) {
    if (drizzle.table) storage = { kind: "drizzle", table: drizzle.table };
    if (drizzle.byHand) plan.byHand.push(drizzle.byHand);
    else if (drizzle.change === undefined) plan.present.push(drizzle.table!.file);
    if (drizzle.change) {
      plan.changes.push(drizzle.change);
      plan.next.push(migrationOf(app.scripts, run, "npx drizzle-kit generate"));
    }
  } else {
    storage = { kind: "memory" };
    plan.next.push(
      "neither Prisma nor Drizzle was found, so the limits are in the memory of one process; " +
        "docs/limiter.md of trpc-rate-limit lists the other stores",
    );
  }

  const limits = await planLimits(
    app,
    storage ?? { kind: "drizzle", table: { name: "rateLimits", file: "src/db/schema.ts" } },
  );
  if (limits.isPresent) plan.present.push(limits.file);
  // Without a table there is nothing that limits.ts could import.
  if (limits.change && storage === undefined) {
    const why = "it needs the table";
    plan.byHand.push({ file: limits.file, why, lines: limits.change.after });
  } else if (limits.change) plan.changes.push(limits.change);
  if (limits.byHand) plan.byHand.push(limits.byHand);

  const hasLimits = limits.isPresent || plan.changes.some(({ file }) => file === limits.file);
  const wiring = await planWiring(app, limits.file, hasLimits);
  plan.changes.push(...wiring.changes);
  plan.byHand.push(...wiring.byHand);
  plan.present.push(...wiring.present);
  return plan;
}

/** T3's scripts have names for these commands. */
function migrationOf(
  scripts: ReadonlySet<string>,
  run: (script: string) => string,
  otherwise: string,
): string {
  const migrate = scripts.has("db:generate") ? run("db:generate") : otherwise;
  return scripts.has("db:push") ? `${migrate} (or ${run("db:push")})` : migrate;
}

/** Prisma's schema language has no collations. */
function mysqlStep(table: string): string {
  return (
    "npx prisma migrate dev --create-only --name rate-limit, put these lines at the end of the " +
    "migration, and run npx prisma migrate dev. Otherwise the keys ann and Ann are one bucket. " +
    `(After a db push, run them in the database.)\n\n${collationSql(table)}`
  );
}
