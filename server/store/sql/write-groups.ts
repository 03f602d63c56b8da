/**
 * Writes the groups of a batch with guards, in as few statements as possible. A group that fails,
 * or meets a conflict, does not affect the others.
 */
import type { Row } from "../../../core/rows/row.js";
import type { Write, WriteGroup } from "../plan-writes.js";
import { UnsentError, type WriteOutcomes } from "../row-access.js";
import { rowKey } from "../store.js";
import { WriteConflictError } from "../retry-conflicts.js";
import type { Connection } from "./connection.js";
import type { Statements } from "./dialect.js";

const isInsert = ({ was, next }: Write) => was === null && next !== null;
const isDelete = ({ was, next }: Write) => was !== null && next === null;
const isUpdate = ({ was, next }: Write) => was !== null && next !== null;
const isAbsent = ({ was, next }: Write) => was === null && next === null;

/** @param isConflict of the dialect. */
export async function writeGroups(
  statements: Statements,
  connection: Connection,
  groups: readonly WriteGroup[],
  isConflict: (error: unknown) => boolean,
  isWanted?: (group: WriteGroup) => boolean,
): Promise<WriteOutcomes> {
  const outcomes: WriteOutcomes = new Map();

  /** Writes these groups in one statement or one transaction. */
  async function step(
    members: readonly WriteGroup[],
    run: (sending: Connection) => Promise<ReadonlySet<string>>,
  ): Promise<void> {
    if (members.length === 0) return;
    const areWanted = isWanted && (() => members.every(isWanted));
    try {
      const rows = await run(areWanted ? sendingWhile(areWanted, connection) : connection);
      for (const group of members) {
        // A group is written all or nothing, so one of its rows is enough to know.
        if (group.writes.some(({ row }) => rows.has(rowKey(row)))) outcomes.set(group, "written");
        else if (group.writes.every(isInsert)) outcomes.set(group, "exists");
      }
    } catch (error) {
      // The error has aborted the whole transaction, and its owner has to receive it.
      if (connection.transaction === undefined) throw error;
      // After a conflict the statement was rolled back. The groups of the statement are decided again.
      if (isConflict(error)) return;
      for (const group of members) outcomes.set(group, { error });
    }
  }

  const alone = (holds: (write: Write) => boolean) =>
    groups.filter(({ writes }) => writes.length === 1 && holds(writes[0]!));
  const canUpdate = (write: Write) =>
    isUpdate(write) || (statements.canUpsert && (isInsert(write) || isAbsent(write)));
  const updates = groups.filter(({ writes }) => writes.every(canUpdate));
  const inserts = statements.canUpsert ? [] : alone(isInsert);
  const deletes = alone(isDelete);
  const simple = new Set([...updates, ...inserts, ...deletes]);
  await step(updates, (sending) => statements.update(sending, updates));
  await step(inserts, (sending) => statements.insert(sending, writesOf(inserts)));
  await step(deletes, (sending) => statements.remove(sending, writesOf(deletes)));
  for (const group of groups) {
    if (!simple.has(group))
      await step([group], (sending) => writeMixed(statements, sending, group));
  }
  return outcomes;
}

/**
 * A connection that sends nothing for calls that have timed out. Each step is one statement or one
 * transaction, so a step that is not sent writes nothing at all.
 */
function sendingWhile(isWanted: () => boolean, connection: Connection): Connection {
  const { transaction, batch } = connection;
  const check = () => {
    if (!isWanted()) throw new UnsentError();
  };
  return {
    ...connection,
    async query(text, params) {
      check();
      return connection.query(text, params, isWanted);
    },
    async execute(text, params) {
      check();
      return connection.execute(text, params, isWanted);
    },
    batch:
      batch &&
      (async (statements) => {
        check();
        return batch(statements);
      }),
    transaction: transaction && ((run) => transaction((tx) => run(sendingWhile(isWanted, tx)))),
  };
}

const HELD: Row = { used: 0, ts: 0 };

/**
 * A group with several kinds of write. The group is rolled back unless each of its rows was written. A
 * row that has to stay absent cannot be locked, so it is inserted, which keeps other transactions from
 * inserting it, and deleted again.
 */
function writeMixed(statements: Statements, connection: Connection, { writes }: WriteGroup) {
  const run = async (tx: Connection): Promise<ReadonlySet<string>> => {
    const written = new Set<string>();
    const absent = writes.filter(isAbsent).map(({ row }) => row);
    const held = absent.map((row): Write => ({ row, was: null, next: HELD }));
    const inserts = [...writes.filter(isInsert), ...held];
    const updates = writes.filter(isUpdate);
    const releases = absent.map((row): Write => ({ row, was: HELD, next: null }));
    const deletes = [...writes.filter(isDelete), ...releases];
    // Inserts first: inserts fail at once on an existing row, before the other writes wait for locks.
    const steps = [
      inserts.length > 0 && (() => statements.insert(tx, inserts)),
      updates.length > 0 && (() => statements.update(tx, [{ writes: updates, decisions: [] }])),
      deletes.length > 0 && (() => statements.remove(tx, deletes)),
    ];
    for (const each of steps) {
      if (!each) continue;
      for (const id of await each()) written.add(id);
      // Nothing was written, so the group can be decided again, in the same transaction too.
      if (written.size === 0) return written;
    }
    if (written.size !== writes.length) throw new WriteConflictError();
    return written;
  };
  if (connection.isSingle && statements.writeAtOnce)
    return statements.writeAtOnce(connection, writes);
  return connection.transaction === undefined ? run(connection) : connection.transaction(run);
}

function writesOf(groups: readonly WriteGroup[]): Write[] {
  return groups.flatMap(({ writes }) => writes);
}
