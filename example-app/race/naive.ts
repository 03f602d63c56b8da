/** Two limiters without the package, as they are often written with Prisma. */
import { HOUR } from "trpc-rate-limit";
import type { PrismaClient } from "../shared/generated/prisma/client.js";
import { ALLOWED } from "../shared/race-size.js";

type Table = Pick<PrismaClient, "naiveLimit">;

/** Reads the row, compares, writes. @returns whether the call is granted. */
export async function naiveLimit(prisma: Table, key: string): Promise<boolean> {
  const row = await prisma.naiveLimit.findUnique({ where: { key } });
  if (!row || row.resetAt <= new Date()) {
    const first = { count: 1, resetAt: new Date(Date.now() + HOUR) };
    await prisma.naiveLimit.upsert({ where: { key }, create: { key, ...first }, update: first });
    return true;
  }
  // Until the write below has arrived, other calls read the same count, and pass, too.
  if (row.count >= ALLOWED) return false;
  await prisma.naiveLimit.update({ where: { key }, data: { count: { increment: 1 } } });
  return true;
}

/**
 * Compares and counts in one statement, so it is exact. The count is not in one transaction with what the
 * call writes.
 */
export async function exactLimit(prisma: Table, key: string): Promise<boolean> {
  const { count } = await prisma.naiveLimit.updateMany({
    where: { key, count: { lt: ALLOWED } },
    data: { count: { increment: 1 } },
  });
  return count === 1;
}
