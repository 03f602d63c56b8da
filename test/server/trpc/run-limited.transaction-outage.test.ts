/** The responses to a client whose transaction cannot reach its database, or cannot go on. */
import { initTRPC, type TRPCError } from "@trpc/server";
import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  pgStore,
  prismaStore,
  type RateLimitStore,
} from "../../../server/index.js";
import {
  createRateLimitTRPC,
  SHARED_BUCKET,
  formatRateLimitError,
} from "../../../server/trpc/index.js";
import { connectPostgres } from "../../support/clients.js";
import { createPostgres } from "../../support/database.js";
import { startServer } from "../../support/http.js";

/** No server listens on this port, which the system reserves. */
const UNREACHABLE = "postgresql://root@127.0.0.1:1/nowhere";
const unavailable = {
  status: 503,
  error: {
    message: "Rate limits cannot be checked right now",
    code: -32_603,
    data: { code: "SERVICE_UNAVAILABLE", httpStatus: 503, path: "send" },
  },
};

/**
 * The answer to a call of a procedure in a transaction, in production mode.
 *
 * @param onError receives what the server's log would get.
 */
async function send(
  store: RateLimitStore,
  work: () => unknown = () => true,
  onError: (error: TRPCError) => void = () => {},
) {
  const limiter = createRateLimiter({
    store,
    limits: { one: { kind: "token bucket", rate: 5, period: MINUTE } },
  });
  const t = initTRPC.create({
    isDev: false,
    errorFormatter({ shape, error }) {
      onError(error);
      return formatRateLimitError(shape, error, limiter);
    },
  });
  const rl = createRateLimitTRPC({ key: SHARED_BUCKET, t, limiter });
  const router = t.router({
    send: t.procedure.use(rl.rateLimited.transaction("one")).mutation(work),
  });
  await using server = await startServer(router, () => ({}));
  const response = await fetch(`${server.url}/send`, {
    method: "POST",
    headers: { "content-type": "application/json" },
  });
  return { status: response.status, ...((await response.json()) as object) };
}

describe("an unreachable database is SERVICE_UNAVAILABLE, without internals", () => {
  const prisma = connectPostgres(UNREACHABLE);
  const pool = new pg.Pool({ connectionString: UNREACHABLE });
  afterAll(async () => {
    await prisma.$disconnect();
    await pool.end();
  });

  it.each([
    ["Prisma", () => prismaStore(prisma)],
    ["Prisma and pg", () => prismaStore(prisma, { pool })],
    ["pg", () => pgStore(pool)],
  ])("through %s", async (_what, open) => {
    expect(await send(open() as RateLimitStore)).toEqual(unavailable);
  });
});

describe("a row that another transaction holds too long is SERVICE_UNAVAILABLE", () => {
  it.each(["Prisma", "pg"])("through %s", async (what) => {
    await using database = await createPostgres();
    const url = new URL(database.url);
    url.searchParams.set("options", "-c lock_timeout=50");
    const prisma = connectPostgres(url.href);
    const pool = new pg.Pool({ connectionString: url.href });
    const holder = new pg.Client(database.url);
    await holder.connect();
    await holder.query(`INSERT INTO "RateLimit" VALUES ('one', '', 0, 4, ${Date.now()})`);
    await holder.query(`BEGIN; SELECT * FROM "RateLimit" FOR UPDATE`);
    try {
      const store = (what === "pg" ? pgStore(pool) : prismaStore(prisma)) as RateLimitStore;
      const impatient: RateLimitStore = {
        ...store,
        transaction: (run, options) => store.transaction!(run, { ...options, retryFor: 100 }),
      };
      expect(await send(impatient)).toEqual(unavailable);
    } finally {
      await holder.end();
      await pool.end();
      await prisma.$disconnect();
    }
  });
});

describe("in a transaction", () => {
  it("a failure of the store after the procedure is SERVICE_UNAVAILABLE", async () => {
    const memory = memoryStore();
    const failing: RateLimitStore = {
      ...memory,
      async transaction(...args) {
        await memory.transaction!(...(args as Parameters<NonNullable<typeof memory.transaction>>));
        throw new Error("COMMIT failed on 10.0.0.7");
      },
    };
    expect(await send(failing)).toEqual(unavailable);
  });

  it("an error of the procedure is the procedure's own", async () => {
    const answer = await send(memoryStore() as RateLimitStore, () => {
      throw new Error("the printer is on fire");
    });
    expect(answer).toMatchObject({
      status: 500,
      error: { message: "the printer is on fire", data: { code: "INTERNAL_SERVER_ERROR" } },
    });
  });

  it("a store without transactions is an error of the developer, and says so on the server", async () => {
    const { apply } = memoryStore();
    const errors: TRPCError[] = [];
    const answer = await send({ apply }, undefined, (error) => void errors.push(error));
    expect(answer).toMatchObject({
      status: 500,
      error: { message: "A rate limit of this request has no valid config" },
    });
    expect(errors[0]!.cause!.message).toContain("does not support transaction()");
  });
});
