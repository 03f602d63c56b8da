/** The example's database in a new file, until the end of the test. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openDatabase } from "../../example-app/shared/server/database.js";
import type { PrismaClient } from "../../example-app/shared/generated/prisma/client.js";

export async function openExampleDatabase() {
  const folder = await mkdtemp(join(tmpdir(), "example-"));
  const opened: PrismaClient[] = [];
  onTestFinished(async () => {
    await Promise.all(opened.map((prisma) => prisma.$disconnect()));
    await rm(folder, { recursive: true, force: true });
  });

  /** Opens the file once more, as another process would. */
  async function connect(): Promise<PrismaClient> {
    const prisma = await openDatabase(`file:${join(folder, "demo.db")}`);
    opened.push(prisma);
    return prisma;
  }
  return { prisma: await connect(), connect };
}
