/**
 * The operations that group commit needs, by scripts: on all rows of a server, or, in a cluster, on the
 * rows of one tag. A script is atomic, so a read is a snapshot, and a group is written all or nothing.
 */
import { isPeriodic } from "../store/sql/current-window.js";
import { type RowAccess, UnsentError } from "../store/row-access.js";
import { rowKey, type RowId } from "../store/store.js";
import { askAgain } from "./ask-again.js";
import { randomText } from "./marks.js";
import { RedisConflictError, redisError } from "./redis-errors.js";
import { NOT_HELD, type RedisRows } from "./redis-rows.js";

/**
 * @param isPart whether decisions may also have rows of other tags. A held row may then belong to a
 * decision that is half written: other rows of the decision are written already. A read waits for a held
 * row.
 */
export function createRedisAccess(
  rows: RedisRows,
  prepare: () => Promise<void> | undefined,
  isPart: boolean,
): RowAccess {
  const locked: RowAccess["locked"] = async (run) => {
    const holder = randomText();
    const held = new Map<string, RowId>();
    try {
      return await run({
        async read(wanted) {
          for (const row of wanted) held.set(rowKey(row), row);
          return askAgain(() => rows.hold(wanted, holder));
        },
        async write(groups, isWanted) {
          const outcomes = await rows.write(groups, isWanted, holder);
          for (const [{ writes }, outcome] of outcomes) {
            if (outcome !== "written") continue;
            for (const { row } of writes) held.delete(rowKey(row));
          }
          return outcomes;
        },
      });
    } catch (error) {
      // Another process holds the rows.
      if (error instanceof RedisConflictError) held.clear();
      throw error;
    } finally {
      rows.release([...held.values()], holder);
    }
  };

  return {
    prepare,
    locked,
    read: (wanted) =>
      askAgain(async () => {
        const { states, isHeld } = await rows.read(wanted);
        if (isPart && isHeld) throw new RedisConflictError();
        return states;
      }),
    write: (groups, isWanted) => rows.write(groups, isWanted, NOT_HELD),
    async take(lines, { now, isWanted }) {
      if (!isWanted()) throw new UnsentError();
      // A script keeps a row until the row is full. A script cannot calculate that instant for windows of
      // a time zone.
      const periodic = lines.every(isPeriodic) ? lines : lines.filter(isPeriodic);
      return periodic.length > 0 ? rows.take(periodic, now) : new Map();
    },
    takeOne: (line, { now, isWanted }) => {
      if (!isWanted()) return Promise.reject(new UnsentError());
      return isPeriodic(line) ? rows.takeOne(line, now) : Promise.resolve(undefined);
    },
    mixesTerms: true,
    serializable: false,
    isConflict: (error) => error instanceof RedisConflictError,
    wrap: redisError,
    maxInFlight: 2,
    probe: () => rows.runner.send(["PING"]),
  };
}
