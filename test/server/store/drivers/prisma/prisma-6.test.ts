import { expect, it, onTestFinished } from "vitest";
import { createRateLimiter, MINUTE, prismaStore } from "../../../../../server/index.js";
import { connectPool } from "../../../../support/connect-pool.js";
import { createPostgres } from "../../../../support/database.js";
import { recordStatements } from "../../../../support/record-statements.js";
import { createRustEngine } from "../../../../support/rust-engine.js";

const limits = { few: { kind: "token bucket", rate: 10, period: MINUTE } } as const;

// CockroachDB refuses the second COMMIT, so a transaction that is committed would seem to have failed.
it.each([
  ["postgresql", 1],
  ["cockroachdb", 0],
])(
  "commits inside of the body of a transaction where Prisma may do so again: %s",
  async (provider, commits) => {
    const database = await createPostgres();
    const pool = connectPool(database.url);
    onTestFinished(() => database[Symbol.asyncDispose]());
    onTestFinished(() => pool.end());
    const texts = new Set<string>();
    const prisma = Object.assign(createRustEngine(pool), { _activeProvider: provider });
    const store = prismaStore(recordStatements(prisma as never, texts));
    const limiter = createRateLimiter({ store, limits });
    expect(await limiter.transaction(({ limit }) => limit("few"))).toMatchObject({ ok: true });
    expect([...texts].filter((text) => text === "COMMIT")).toHaveLength(commits);
    expect(await limiter.getValue("few")).toMatchObject({ value: expect.closeTo(9, 1) as number });
  },
);
