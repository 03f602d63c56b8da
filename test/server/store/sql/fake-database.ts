/** The operations of a database, in memory, for tests of group commit. These operations never conflict. */
import type { Row } from "../../../../core/rows/row.js";
import type {
  RowAccess,
  RowStatements,
  WriteOutcomes,
} from "../../../../server/store/row-access.js";
import { type RowId, rowKey } from "../../../../server/store/store.js";

export const row = (key: string): RowId => ({ name: "group commit", key, shard: 0 });

export interface FakeDatabaseOptions {
  /** Runs before each guarded write. */
  beforeWrite?: () => Promise<void> | void;
  /** Runs before each read. */
  beforeRead?: () => Promise<void> | void;
  /** Whether the database can lock rows. @default false */
  hasLocks?: boolean;
  /** The plain path. @default takes nothing, so that every call takes the general path */
  take?: RowAccess["take"];
  /** Whether the lines of one take may differ in their terms. @default true */
  mixesTerms?: boolean;
}

export function createFakeDatabase(options: FakeDatabaseOptions) {
  const rows = new Map<string, Row>();
  const counts = { reads: 0, writes: 0, locked: 0 };
  const isUnchanged = (id: string, was: Row | null) => {
    const state = rows.get(id) ?? null;
    return state?.used === was?.used && state?.ts === was?.ts;
  };
  const read: RowStatements["read"] = async (ids) => {
    counts.reads++;
    await options.beforeRead?.();
    return new Map(
      ids.flatMap((id) => {
        const state = rows.get(rowKey(id));
        return state === undefined ? [] : [[rowKey(id), state] as const];
      }),
    );
  };
  const write: RowStatements["write"] = async (groups) => {
    const outcomes: WriteOutcomes = new Map();
    for (const group of groups) {
      if (!group.writes.every(({ row: id, was }) => isUnchanged(rowKey(id), was))) {
        if (group.writes.every(({ was }) => was === null)) outcomes.set(group, "exists");
        continue;
      }
      for (const { row: id, next } of group.writes) rows.set(rowKey(id), next!);
      outcomes.set(group, "written");
    }
    return outcomes;
  };
  const access: RowAccess = {
    read,
    async write(groups) {
      counts.writes++;
      await options.beforeWrite?.();
      return write(groups);
    },
    locked: options.hasLocks
      ? (run) => {
          counts.locked++;
          return run({ read, write });
        }
      : undefined,
    isConflict: () => false,
    wrap: (error) => error as Error,
    maxInFlight: 2,
    serializable: false,
    take: options.take ?? (async () => new Map()),
    mixesTerms: options.mixesTerms ?? true,
  };
  /** Takes 1 from a row, as another process would. */
  const takeElsewhere = (id: RowId) => {
    const state = rows.get(rowKey(id)) ?? { used: 0, ts: 0 };
    rows.set(rowKey(id), { used: state.used + 1, ts: state.ts + 1 });
  };
  return { access, rows, counts, takeElsewhere };
}
