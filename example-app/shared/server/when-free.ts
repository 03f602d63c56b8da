/** Writes that the application itself makes. The limiter tries its own statements again by itself. */
import { setTimeout } from "node:timers/promises";
import type { PrismaClient } from "../generated/prisma/client.js";
import { databaseOf } from "./database.js";

/** Each try waits for the file for up to the client's time-out, so all tries take some three seconds. */
const MAX_TRIES = 25;
/** The longest pause between two tries, ms. */
const PAUSE = 50;

/**
 * Tries a write again while another process writes to the same file of SQLite. Other databases wait by
 * themselves. Not for a part of a transaction, which must begin again as a whole.
 */
export async function whenFree<T>(prisma: PrismaClient, write: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await write();
    } catch (error) {
      if (tries === MAX_TRIES || !isBusy(error, prisma)) throw error;
      // Without this transaction, later writes would be answered as successful, and not committed: see
      // docs/sqlite.md.
      await prisma.$transaction(async () => {}).catch(() => {});
      await setTimeout(Math.random() * PAUSE);
    }
  }
}

/** With other databases, the same code means a silent connection, which may have carried the write. */
function isBusy(error: unknown, prisma: PrismaClient): boolean {
  return (error as { code?: unknown }).code === "P1008" && databaseOf(prisma).kind === "SQLite";
}
