/** Connects a client of Prisma 8 whose schema is the table of the package. */
import { defineContract } from "@prisma/orm-postgres/contract-builder";
import { budgets, lints } from "@prisma/orm-postgres/family-runtime";
import postgres from "@prisma/orm-postgres/runtime";
import pg from "pg";

export function contractOf(table = "RateLimit") {
  return defineContract({}, ({ field, model }) => ({
    models: {
      RateLimit: model("RateLimit", {
        fields: {
          name: field.text(),
          key: field.text(),
          shard: field.int(),
          used: field.float(),
          ts: field.float(),
        },
      })
        .attributes(({ fields, constraints }) => ({
          id: constraints.id([fields.name, fields.key, fields.shard]),
        }))
        .sql({ table }),
    },
  }));
}

/** The strictest middleware, because an application may have it. */
const severities = {
  selectStar: "error",
  noLimit: "error",
  deleteWithoutWhere: "error",
  updateWithoutWhere: "error",
  readOnlyMutation: "error",
};

export function connect(url, table, max) {
  const pool = new pg.Pool({ connectionString: url, ...(max !== undefined && { max }) });
  pool.on("error", () => {});
  const middleware = [lints({ severities }), budgets({ severities: { rowCount: "error" } })];
  const prisma = postgres({ contract: contractOf(table), pg: pool, middleware });
  return {
    prisma,
    run: (sql) => pool.query(sql),
    async close() {
      await prisma.close();
      await pool.end();
    },
  };
}
