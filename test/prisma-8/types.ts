/** Compiled by `test/drivers/prisma-8.test.ts`. */
import { defineContract } from "@prisma/orm-postgres/contract-builder";
import postgres from "@prisma/orm-postgres/runtime";
import { createRateLimiter, MINUTE, prismaStore } from "../../server/index.js";

const contract = defineContract({}, ({ field, model }) => ({
  models: { Post: model("Post", { fields: { id: field.text() } }).sql({ table: "post" }) },
}));
const prisma = postgres({ contract, url: "postgresql://localhost" });
export const limiter = createRateLimiter({
  store: prismaStore(prisma),
  limits: { posts: { kind: "token bucket", rate: 3, period: MINUTE } },
});

type Transaction = Parameters<Parameters<typeof prisma.transaction>[0]>[0];

export const inOurs = limiter.transaction(async ({ tx, limit }) => {
  await limit("posts");
  const own: Transaction = tx;
  return own.orm;
});

export const inTheirs = prisma.transaction((tx) => limiter.using(tx).limit("posts"));

// @ts-expect-error This is not a transaction.
limiter.using({});
