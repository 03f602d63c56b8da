/** The tasks of a process of the race. Both limiters use the client and the database of this process. */
import { setImmediate } from "node:timers/promises";
import { createRateLimiter, HOUR, prismaStore } from "trpc-rate-limit/server";
import type { PrismaClient } from "../shared/generated/prisma/client.js";
import { ALLOWED } from "../shared/race-size.js";
import { ORDERS, raceLimits } from "./limits.js";
import { type Calls, makeCalls, type Tick } from "./make-calls.js";
import { exactLimit, naiveLimit } from "./naive.js";

export type Racer = "naive" | "package";
/** The outcome of one order. Both facts are read from the database after the order. */
export interface Order {
  tookToken: boolean;
  wroteSeat: boolean;
}

/** Every second order wants the seat of the one before, so its write fails. */
const seatOf = (order: number) => Math.ceil(order / 2);

export function createRacers(prisma: PrismaClient) {
  const limiter = createRateLimiter({ store: prismaStore(prisma), limits: raceLimits });

  const allow: Record<Racer, (key: string) => Promise<boolean>> = {
    naive: (key) => naiveLimit(prisma, key),
    package: async (key) => (await limiter.limit("race", { key })).ok,
  };

  const send: Record<Racer, (orders: string, number: number) => Promise<void>> = {
    async naive(orders, number) {
      if (!(await exactLimit(prisma, orders))) throw new Error("denied");
      await prisma.seat.create({ data: { orders, number } });
    },
    async package(orders, number) {
      // Limit: the token and the seat are in one transaction, so both are written or neither is.
      await limiter.transaction(async ({ tx, limit }) => {
        await limit("race", { key: orders, throws: true });
        await tx.seat.create({ data: { orders, number } });
      });
    },
  };

  /** How many tokens are taken, by the row. */
  async function taken({ racer, key }: { racer: Racer; key: string }): Promise<number> {
    if (racer === "package") {
      return Math.round(ALLOWED - (await limiter.getValue("race", { key })).value);
    }
    return (await prisma.naiveLimit.findUniqueOrThrow({ where: { key } })).count;
  }

  /**
   * Gives the naive limiter a row with all of its tokens. The package needs no row for that. By this row,
   * `tidy` knows of the race.
   */
  async function begin({ key }: { key: string }): Promise<void> {
    const resetAt = new Date(Date.now() + HOUR);
    await prisma.naiveLimit.create({ data: { key, count: 0, resetAt } });
  }

  /** Makes this process's calls. */
  function call({ racer, key, tick }: { racer: Racer; key: string; tick: Tick }): Promise<Calls> {
    return makeCalls(() => allow[racer](key), tick === "each" ? () => setImmediate() : undefined);
  }

  /** Sends the orders of one racer. Each order waits for the answer to the order before. */
  async function order({ racer, key }: { racer: Racer; key: string }): Promise<Order[]> {
    const orders: Order[] = [];
    let before = { tokens: 0, seats: 0 };
    for (let i = 1; i <= ORDERS; i++) {
      // The procedure's error goes to its caller, and the next order comes.
      await send[racer](key, seatOf(i)).catch(() => {});
      const after = {
        tokens: await taken({ racer, key }),
        seats: await prisma.seat.count({ where: { orders: key } }),
      };
      orders.push({
        tookToken: after.tokens > before.tokens,
        wroteSeat: after.seats > before.seats,
      });
      before = after;
    }
    return orders;
  }

  /** Deletes all rows of this key. */
  async function remove({ key }: { key: string }): Promise<void> {
    await Promise.all([
      prisma.naiveLimit.deleteMany({ where: { key } }),
      prisma.seat.deleteMany({ where: { orders: key } }),
      limiter.reset("race", { key }),
    ]);
  }

  /** Deletes the rows of races whose processes were killed. The server's limiter prunes its own rows. */
  async function tidy(): Promise<void> {
    const where = { resetAt: { lt: new Date() } };
    const rows = await prisma.naiveLimit.findMany({ where });
    await prisma.seat.deleteMany({ where: { orders: { in: rows.map(({ key }) => key) } } });
    await prisma.naiveLimit.deleteMany({ where });
  }

  return { begin, call, order, taken, remove, tidy };
}

export type Racers = ReturnType<typeof createRacers>;
