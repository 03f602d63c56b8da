/** What is known of the application's database: where the limits are kept, and by which client. */
import { join } from "node:path";
import { type DrizzleTable, readDrizzle } from "./drizzle-schema.js";
import { findDrizzleUserPlans } from "./drizzle-user-plan.js";
import { type Client, findClient } from "./find-client.js";
import { inFolder, type Member } from "./member.js";
import { readBlocks } from "./prisma-schema.js";
import { planPrisma, type PrismaTable } from "./prisma-table.js";
import type { Project } from "./project.js";
import { findStorage, hidesPool, type Storage } from "./storage.js";
import { findPrismaUserPlans, type UserPlan } from "./user-plan.js";

export type { Client as Database } from "./find-client.js";

export interface DatabaseFacts {
  storage: Storage;
  /** The package with the schema, or the application. */
  member: Member;
  /** How a file imports the client. */
  client: Client;
  prisma?: PrismaTable;
  drizzle?: DrizzleTable;
  /** The columns that may hold the plan of a user. Paths are relative to the root. */
  plans: readonly UserPlan[];
}

/** @throws CliError when limits cannot be kept in the database of the schema. */
export async function readDatabase(project: Project): Promise<DatabaseFacts> {
  const { db, api, users } = project;
  const member = db?.member ?? api;
  const facts = await readSchema(project, member);
  const near = [...new Set([member, api, ...users])];
  const client = findClient(facts.storage, db === undefined ? [api] : near, project);
  return { ...facts, member, client };
}

async function readSchema(
  { db, api, root }: Project,
  member: Member,
): Promise<Omit<DatabaseFacts, "client" | "member">> {
  const folder = join(root, member.folder);
  if (db?.orm === "prisma") {
    const prisma = (await planPrisma(folder))!;
    const storage = { kind: "prisma", model: prisma.model, hidesPool: hidesPool(member) } as const;
    const plans = findPrismaUserPlans(await readBlocks(folder)).map((plan) => ({
      ...plan,
      file: inFolder(member, plan.file),
    }));
    return { storage, prisma, plans };
  }
  if (db?.orm === "drizzle") {
    const drizzle = await readDrizzle(folder, member);
    const { name, file } = drizzle;
    const storage = { kind: "drizzle", table: { name, file } } as const;
    return { storage, drizzle, plans: findDrizzleUserPlans(drizzle.codes) };
  }
  return { storage: findStorage(api), plans: [] };
}
