/**
 * Writes the groups of a batch with guards, in as few statements as possible. A group that fails,
 * or meets a conflict, does not affect the others.
 */
import type { Write, WriteGroup } from "../plan-writes.js";
import type { WriteOutcomes } from "../row-access.js";
import { rowKey } from "../store.js";
import { WriteConflictError } from "../retry-conflicts.js";
import type { Connection, Dialect } from "./dialect.js";

const isInsert = ({ was, next }: Write) => was === null && next !== null;
const isDelete = ({ was, next }: Write) => was !== null && next === null;
const isUpdate = ({ was, next }: Write) => was !== null && next !== null;
const isAbsent = ({ was, next }: Write) => was === null && next === null;

export async function writeGroups(
  dialect: Dialect,
  connection: Connection,
  groups: readonly WriteGroup[],
): Promise<WriteOutcomes> {
  const outcomes: WriteOutcomes = new Map();

  /** Writes these groups in one statement or one transaction. */
  async function step(
    members: readonly WriteGroup[],
    run: () => Promise<ReadonlySet<string>>,
  ): Promise<void> {
    if (members.length === 0) return;
    try {
      const rows = await run();
      for (const group of members) {
        // A group is written all or nothing, so one of its rows is enough to know.
        if (group.writes.some(({ row }) => rows.has(rowKey(row)))) outcomes.set(group, "written");
      }
    } catch (error) {
      // The error has aborted the whole transaction, and its owner has to receive it.
      if (connection.transaction === undefined) throw error;
      // After a conflict the statement was rolled back. Its groups are decided again.
      if (dialect.isConflict(error)) return;
      for (const group of members) outcomes.set(group, { error });
    }
  }

  const alone = (holds: (write: Write) => boolean) =>
    groups.filter(({ writes }) => writes.length === 1 && holds(writes[0]!));
  const canUpdate = (write: Write) => isUpdate(write) || (dialect.canUpsert && isInsert(write));
  const updates = groups.filter(({ writes }) => writes.every(canUpdate));
  const inserts = dialect.canUpsert ? [] : alone(isInsert);
  const deletes = alone(isDelete);
  const simple = new Set([...updates, ...inserts, ...deletes]);
  await step(updates, () => dialect.update(connection, updates));
  await step(inserts, () => dialect.insert(connection, writesOf(inserts)));
  await step(deletes, () => dialect.remove(connection, writesOf(deletes)));
  for (const group of groups) {
    if (!simple.has(group)) await step([group], () => writeMixed(dialect, connection, group));
  }
  return outcomes;
}

/** A group with several kinds of write. It is rolled back unless each of its rows was written. */
function writeMixed(dialect: Dialect, connection: Connection, { writes }: WriteGroup) {
  const run = async (tx: Connection): Promise<ReadonlySet<string>> => {
    const written = new Set<string>();
    const inserts = writes.filter(isInsert);
    const updates = writes.filter(isUpdate);
    const deletes = writes.filter(isDelete);
    // Inserts first: they fail at once on an existing row, before the other writes wait for locks.
    const steps = [
      inserts.length > 0 && (() => dialect.insert(tx, inserts)),
      updates.length > 0 && (() => dialect.update(tx, [{ writes: updates, decisions: [] }])),
      deletes.length > 0 && (() => dialect.remove(tx, deletes)),
    ];
    for (const each of steps) if (each) for (const id of await each()) written.add(id);
    const absent = writes.filter(isAbsent);
    if (written.size + absent.length !== writes.length) throw new WriteConflictError();
    const ids = absent.map(({ row }) => row);
    if (ids.length > 0 && (await dialect.read(tx, ids)).size > 0) throw new WriteConflictError();
    return written;
  };
  if (connection.isSingle && dialect.writeAtOnce) return dialect.writeAtOnce(connection, writes);
  return connection.transaction === undefined ? run(connection) : connection.transaction(run);
}

function writesOf(groups: readonly WriteGroup[]): Write[] {
  return groups.flatMap(({ writes }) => writes);
}
