/**
 * A random schedule: the statements of some connections, one after the other, some inside of
 * transactions. A connection whose statement waits does nothing until it has its answer.
 */
import type { PeriodicConfig } from "../../../core/config.js";
import { CLOSED, rowOf } from "../../../core/rows/bucket.js";
import type { Row } from "../../../core/rows/row.js";
import type { Write } from "../../../server/store/plan-writes.js";
import { type Connection, inside, type Locking } from "../../../server/store/sql/connection.js";
import { boundLockWaits, type Statements } from "../../../server/store/sql/dialect.js";
import { pruneSql } from "../../../server/store/sql/prune.js";
import { compareLockOrder, type RowId } from "../../../server/store/store.js";
import { idOf, type ModelRows } from "../model/rows.js";
import type { Random } from "../random.js";
import type { Backend, LevelName } from "./backends.js";
import type { Tandem } from "./tandem.js";

/** Each schedule has rows of its own, because a database is slow to forget deleted rows. */
export function rowsOf(seed: number): readonly RowId[] {
  const name = nameOf(seed);
  return [
    { name, key: "a", shard: 0 },
    { name, key: "b", shard: 0 },
    { name, key: "b", shard: 1 },
    { name, key: "c", shard: 0 },
  ];
}

/** Later schedules have later names, so no row stands behind the rows of the last schedule. */
function nameOf(seed: number): string {
  return `schedule ${String(seed).padStart(9, "0")}`;
}

const CONFIGS: readonly PeriodicConfig[] = [
  { kind: "token bucket", rate: 10, period: 1000, capacity: 10 },
  { kind: "fixed window", rate: 5, period: 1000, capacity: 10 },
];

/** The used tokens that a row may have, also by a larger config. */
export function anyUse(random: Random): number {
  const dice = random.next();
  if (dice < 0.15) return random.pick([-3, -1, 12, 25, CLOSED]);
  return random.between(0, 9);
}

export interface Actor {
  tandem: Tandem;
  level: LevelName | undefined;
  hasFailed: boolean;
  /** Whether the last statement of the actor has no answer yet. */
  isBusy: boolean;
}

export interface Context {
  backend: Backend;
  statements: Statements;
  rows: ModelRows;
  /** The rows that the schedule uses. */
  ids: readonly RowId[];
  random: Random;
  /** Whether bounded waits end by themselves. */
  endsWaits: boolean;
}

/** @returns the next action of the actor. */
export function nextAction(actor: Actor, context: Context): () => Promise<unknown> {
  const { backend, endsWaits, random } = context;
  const { tandem, level } = actor;
  if (level === undefined) {
    if (random.chance(0.4)) return alone(tandem, context);
    const next = random.pick(backend.levels);
    return async () => {
      for (const text of backend.begin(next)) await tandem.run(text);
      if (endsWaits && next === "SERIALIZABLE") await boundLockWaits(backend.dialect, tandem, 1000);
      actor.level = next;
    };
  }
  if (actor.hasFailed && random.chance(0.9)) return () => tandem.run("ROLLBACK");
  if (random.chance(0.25)) return () => tandem.run(random.chance(0.75) ? "COMMIT" : "ROLLBACK");
  const ways = LOCKING[backend.name][level];
  const bounded = ways.filter((way) => way === BRIEFLY || way === HURRIEDLY);
  const isBounded = endsWaits && bounded.length > 0;
  const connection = inside(tandem, random.pick(isBounded ? bounded : ways));
  return write(connection, context);
}

const UNLOCKED: Locking = { lock: "none" };
const AT_ONCE: Locking = { lock: "exclusive", patience: "none" };
const WAITING: Locking = { lock: "exclusive", patience: "unbounded" };
const BRIEFLY: Locking = { lock: "exclusive", patience: "brief" };
const HURRIEDLY: Locking = { lock: "exclusive", patience: "hurried" };
const HOLDING: Locking = { lock: "holding", patience: "unbounded" };
const ENTERING: Locking = { lock: "passing", patience: "unbounded" };
const PASSING: Locking = { lock: "passing", patience: "none" };

/**
 * The locking that the package chooses in transactions of each level, and that `using` has in any level.
 */
const LOCKING: Record<Backend["name"], Record<LevelName, readonly Locking[]>> = {
  postgresql: {
    "READ COMMITTED": [UNLOCKED, WAITING, BRIEFLY, HURRIEDLY, HOLDING, ENTERING, PASSING],
    "REPEATABLE READ": [WAITING],
    SERIALIZABLE: [AT_ONCE, WAITING, ENTERING, PASSING],
  },
  mariadb: {
    "READ COMMITTED": [UNLOCKED, WAITING, BRIEFLY, HURRIEDLY],
    "REPEATABLE READ": [WAITING],
    SERIALIZABLE: [AT_ONCE, WAITING, BRIEFLY],
  },
};

/** A statement, or a short transaction, that the store itself sends. */
function alone(tandem: Tandem, context: Context): () => Promise<unknown> {
  const { backend, statements, random } = context;
  const own: Connection = {
    ...inside(tandem, UNLOCKED),
    async transaction(run) {
      for (const text of backend.begin("READ COMMITTED")) await tandem.run(text);
      try {
        const result = await run(inside(tandem, UNLOCKED));
        await tandem.run("COMMIT");
        return result;
      } catch (error) {
        await tandem.run("ROLLBACK");
        throw error;
      }
    },
  };
  if (random.chance(0.2)) return browse(own, context);
  if (random.chance(0.5)) return write(own, context);
  const shared = random.pick(CONFIGS);
  // With a floor below 0, the rows may owe tokens, so more than 0 tokens are used before a block is
  // taken.
  const floor = random.pick([0, 0, 0, -4]);
  const least = floor === 0 ? random.pick([0, 0, 3]) : 0;
  const total = random.between(1, floor < 0 ? 12 : 6);
  const isMixed = random.chance(0.3);
  const now = random.pick([1000, 1700, 2900]);
  const lines = some(context).map((row) => {
    const config = isMixed ? random.pick(CONFIGS) : shared;
    const fresh = rowOf(config, least + total, config.kind === "token bucket" ? now : 1000);
    return { row, terms: { config, floor, least }, total, fresh };
  });
  const options = { now, mayWait: random.chance(0.5), isWanted: () => true };
  return () => statements.take!(tandem, lines, options);
}

/** Reads many rows, or deletes the full ones. */
function browse(connection: Connection, context: Context): () => Promise<unknown> {
  const { backend, statements, ids, random } = context;
  const { name } = ids[0]!;
  const dice = random.next();
  if (dice < 0.2) return () => statements.nextName(connection, justBefore(name));
  if (dice < 0.4) {
    const after = random.chance(0.5) ? random.pick(ids) : undefined;
    const count = random.between(1, 4);
    return () => statements.list(connection, name, after, count);
  }
  const configs = random.chance(0.3) ? CONFIGS : [random.pick(CONFIGS)];
  const pages = pruneSql(
    {
      dialect: backend.dialect,
      table: { name: "RateLimit" },
      connection,
      isConflict: () => false,
      store: { apply: unused, list: unused },
    },
    { configs: new Map([[name, configs]]), before: random.pick([1000, 1700, 2500]) },
  );
  return async () => {
    while (!(await pages.next()).done);
  };
}

/** A text between this name and the names of earlier schedules. */
function justBefore(name: string): string {
  return `${name.slice(0, -1)}${String.fromCharCode(name.charCodeAt(name.length - 1) - 1)}~`;
}

function unused(): never {
  throw new Error("no config of a schedule is left to the decisions of the store");
}

function write(connection: Connection, context: Context): () => Promise<unknown> {
  const { statements, random } = context;
  const rows = some(context);
  const dice = random.next();
  if (dice < 0.35) return () => statements.read(connection, rows);
  const known = rows.map((row): Write => ({
    row,
    was: stateOf(row, context),
    next: { used: anyUse(random), ts: random.pick([1000, 2000]) },
  }));
  if (dice < 0.65) {
    const groups = random.chance(0.5)
      ? [{ writes: known, decisions: [0] }]
      : known.map((each, i) => ({ writes: [each], decisions: [i] }));
    return () => statements.update(connection, groups);
  }
  if (dice < 0.87) return () => statements.insert(connection, known);
  return () => statements.remove(connection, known);
}

/** One row or two, in the order in which the package locks them. */
function some({ random, ids }: Context): RowId[] {
  const rows = [random.pick(ids)];
  const other = random.pick(ids);
  if (random.chance(0.4) && !rows.includes(other)) rows.push(other);
  return rows.sort(compareLockOrder);
}

/** The state to compare with: mostly the row's own state, so that guards hold. */
function stateOf({ name, key, shard }: RowId, { rows, random }: Context): Row {
  const id = idOf(name, key, shard);
  const state = rows.writerOf(id)?.writes.get(id) ?? rows.newest(id);
  return state === null || random.chance(0.15) ? { used: 3, ts: 500 } : state;
}
