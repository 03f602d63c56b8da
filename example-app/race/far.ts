/**
 * SQLite answers inside of the process: between the read and the write of a call, nothing else of this
 * process runs. If each call has a tick of its own, a limiter that reads, compares and writes thus looks
 * almost exact: it granted 10 or 11. Most databases are behind a network. So here each statement of both
 * limiters waits first, as a statement on its way through a network does.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { PrismaClient } from "../shared/generated/prisma/client.js";

/** How long a statement is on its way, ms. */
export const WAY = 1;

/** The client, with a database that is as far away as a server in the next room. */
export function farAway(prisma: PrismaClient): PrismaClient {
  const far = prisma.$extends({
    query: {
      async $allOperations({ args, query }) {
        await sleep(WAY);
        return query(args);
      },
    },
  });
  // The extended client lacks only `$on`.
  return far as unknown as PrismaClient;
}
