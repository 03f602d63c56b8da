/**
 * Several kinds of write on SQLite, all or nothing, for drivers without transactions. On SQLite, one
 * statement cannot both write and delete. So the guarded write makes full rows (`used` is 0) of the
 * rows that are to be deleted, which is the same to every limit. A second statement then deletes these
 * rows.
 *
 * On D1, both statements are one batch, which is a transaction. Without a batch, a full row is there
 * for a moment. The limits are still exact: if a call takes from that row first, the second statement
 * leaves the row.
 */
import type { Write } from "../../plan-writes.js";
import type { Statements } from "../dialect.js";
import { idsOf } from "../sql.js";
import { removeParam, upsertParam } from "./text.js";

/**
 * @param upsert writes groups, each with a guard over all of its rows.
 * @param remove deletes rows that are as they were.
 */
export function sqliteWriteAtOnce(
  upsert: string,
  remove: string,
): NonNullable<Statements["writeAtOnce"]> {
  return async (connection, writes) => {
    // The `ts` stays, because the windows of a row follow from it.
    const filled = writes.map((write): Write => {
      const { row, was, next } = write;
      return was !== null && next === null ? { row, was, next: { used: 0, ts: was.ts } } : write;
    });
    const full = filled
      .filter((write, i) => write !== writes[i])
      .map(({ row, next }): Write => ({ row, was: next, next: null }));
    const first = { text: upsert, params: [upsertParam([filled])] };
    const second = { text: remove, params: [removeParam(full)] };
    if (connection.batch) {
      const [written] = await connection.batch([first, second]);
      return idsOf(written!);
    }
    const written = idsOf(await connection.query(first.text, first.params));
    if (written.size > 0) await connection.query(second.text, second.params);
    return written;
  };
}
