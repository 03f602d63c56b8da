/**
 * SQLite answers inside of the process: between the read and the write of a call, nothing else of this
 * process runs. So where each call has a tick of its own, a limiter that reads, compares and writes looks
 * almost exact: it granted 10 or 11. Most databases are behind a network. Here each statement of both
 * limiters waits as one does on its way there.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { PrismaClient } from "../shared/generated/prisma/client.js";

/** How long a statement is on its way, ms. */
export const WAY = 1;

/** The client, with a database that is as far away as one in the next room. */
export function farAway(prisma: PrismaClient): PrismaClient {
  const far = prisma.$extends({
    query: {
      async $allOperations({ args, query }) {
        await sleep(WAY);
        return query(args);
      },
    },
  });
  // It lacks `$on` alone.
  return far as unknown as PrismaClient;
}
