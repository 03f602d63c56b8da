/** Pages through the rows of a name, in an order that writes do not change. */
import type { RowId } from "../store.js";
import { quoted, Sql } from "./client.js";
import type { Dialect } from "./dialect.js";

export const listRows: Dialect["list"] = async ({ client, table }, name, after, count) => {
  const sql = new Sql().text(`SELECT "name", "key", "shard" FROM ${quoted(table)} WHERE "name" = `);
  sql.value(name);
  if (after !== undefined) {
    sql.text(` AND ("key", "shard") > (`).value(after.key).text(", ").value(after.shard).text(")");
  }
  const rows = await sql.text(` ORDER BY "key", "shard" LIMIT `).value(count).query(client);
  return rows.map((row) => row as unknown as RowId);
};
