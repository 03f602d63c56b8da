/**
 * MySQL and MariaDB, as far as the statements of the package can tell. The model recognizes statements by
 * their shape. An unknown statement is an error, so that a new statement must be modelled before it is
 * simulated.
 */
import type { PeriodicConfig } from "../../../core/config.js";
import type { Row } from "../../../core/rows/row.js";
import type { Timeline } from "../timeline.js";
import { idsOfList, understandBrowse, understandFull, understandFullness } from "./browse.js";
import { Innodb, type InnodbTransaction, type WhenLocked } from "./innodb.js";
import { columnsOf, idOf, ModelError, type ModelRows, type Reason } from "./rows.js";
import { MysqlSession } from "./mysql-session.js";
import { type Answer, answer, byText, type ModelServer, type Statement } from "./server.js";
import { takeFrom } from "./take.js";

export type Flavour = "mariadb" | "mysql";

interface ServerError {
  errno: number;
  code: string;
  sqlState: string;
}

const ERRORS: Record<Reason, ServerError> = {
  deadlock: { errno: 1213, code: "ER_LOCK_DEADLOCK", sqlState: "40001" },
  "lock wait time-out": { errno: 1205, code: "ER_LOCK_WAIT_TIMEOUT", sqlState: "HY000" },
  "lock not available": { errno: 3572, code: "ER_LOCK_NOWAIT", sqlState: "HY000" },
  "out of range": { errno: 1690, code: "ER_DATA_OUT_OF_RANGE", sqlState: "22003" },
  "read-only": { errno: 1290, code: "ER_OPTION_PREVENTS_STATEMENT", sqlState: "HY000" },
  "transaction aborted": { errno: 1317, code: "ER_QUERY_INTERRUPTED", sqlState: "70100" },
  "serialization failure": { errno: 1020, code: "ER_CHECKREAD", sqlState: "HY000" },
};

/** The version that the database reports. */
const VERSIONS: Record<Flavour, string> = {
  mariadb: "10.11.19-MariaDB (model)",
  mysql: "8.0.36 MySQL (model)",
};

const LOCKING: Record<string, WhenLocked> = { "": "wait", NOWAIT: "nowait", "SKIP LOCKED": "skip" };

/** The numbers of a take without a debt, in the order of a list. */
const OWN = "total rate period most now isWindow".split(" ");
const ANY = [...OWN, "capacity", "own", "least", "over"];

/** The parameters of a take of one row, in the order of the text, up to its key. */
const TAKE_ONE: Record<"own" | "any", Record<PeriodicConfig["kind"], string[]>> = {
  own: {
    "token bucket": "now rate period total now name key shard".split(" "),
    "fixed window": "now period rate total now period period name key shard".split(" "),
  },
  any: {
    "token bucket": ofAny("now rate period", "now"),
    "fixed window": ofAny("now period rate", "now period period"),
  },
};

/** The expression for the used tokens stands in the text three times. */
function ofAny(refill: string, ts: string): string[] {
  const after = `capacity ${refill} least total`;
  return `${after} own capacity ${after} ${after} ${ts} name key shard`.split(" ");
}

export class MysqlServer implements ModelServer {
  readonly innodb: Innodb;
  isReadOnly = false;
  readonly statementOf = byText((text) => this.#understand(text));

  /** @param clock epoch ms. */
  constructor(
    timeline: Timeline,
    readonly clock: () => number,
    readonly flavour: Flavour,
  ) {
    this.innodb = new Innodb(timeline);
  }

  get rows(): ModelRows {
    return this.innodb.rows;
  }

  connect(): MysqlSession {
    return new MysqlSession(this);
  }

  hold(id: string): () => void {
    const tx = this.innodb.begin("read committed");
    this.rows.locks.tryLock(tx, id, "update");
    return () => this.innodb.finish(tx, false);
  }

  errorOf(reason: Reason): Error {
    const isNowait = reason === "lock not available" && this.flavour === "mariadb";
    return Object.assign(
      new Error(`model: ${reason}`),
      ERRORS[isNowait ? "lock wait time-out" : reason],
    );
  }

  #understand(text: string): Statement<InnodbTransaction> {
    const withClock = text.includes("UTC_TIMESTAMP");
    const clock = (): Record<string, unknown> => (withClock ? { clock: this.clock() } : {});
    const isMariaDbs = text.startsWith("SET STATEMENT") || text.includes(" RETURNING ");
    if (isMariaDbs && this.flavour === "mysql") {
      throw new Error(`MySQL does not know this statement: ${text}`);
    }
    const patience = /^SET STATEMENT innodb_lock_wait_timeout = (\d+) FOR (.*)$/.exec(text);
    if (patience) {
      const statement = this.#understand(patience[2]!);
      return async (tx, params) => {
        const before = tx.lockTimeout;
        tx.lockTimeout = 1000 * Number(patience[1]);
        try {
          return await statement(tx, params);
        } finally {
          tx.lockTimeout = before;
        }
      };
    }
    const locks = / FOR UPDATE ?(NOWAIT|SKIP LOCKED)?$/.exec(text);
    const whenLocked = locks ? LOCKING[locks[1] ?? ""] : undefined;
    if (text === "SELECT 1") return async () => answer([{}]);
    if (text.includes("FROM information_schema.COLUMNS")) {
      const version = VERSIONS[this.flavour];
      return async () => answer(TABLE.map((row) => ({ ...row, version, ...clock() })));
    }
    if (/^SELECT t\.`name`.* FROM \(SELECT i\.`name`/.test(text)) {
      return (tx, params) => this.#lockExisting(tx, params, clock());
    }
    if (/^SELECT t\.`name`.* FROM JSON_TABLE\(/.test(text)) {
      return (tx, params) => this.#read(tx, params, whenLocked, clock());
    }
    if (text.includes("ON DUPLICATE KEY UPDATE `ts` = EXP(9999")) {
      return (tx, params) => this.#insert(tx, params);
    }
    if (/^INSERT INTO .* RETURNING /.test(text)) return this.#take(text, clock);
    if (text.startsWith("UPDATE (SELECT")) return (tx, params) => this.#update(tx, params);
    if (text.startsWith("UPDATE JSON_TABLE(")) return (tx, params) => this.#updateAll(tx, params);
    if (text.startsWith("DELETE t FROM (SELECT")) return (tx, params) => this.#remove(tx, params);
    if (text.startsWith("DELETE t FROM JSON_TABLE(")) return this.#removeFull(text);
    if (text.includes("abs(") && whenLocked === "skip") return this.#lockFull(text);
    const browse = understandBrowse(text, this.rows);
    if (browse !== undefined) return async (_tx, params) => browse(params);
    throw new Error(`the model does not know this statement: ${text}`);
  }

  async #read(
    tx: InnodbTransaction,
    params: readonly unknown[],
    whenLocked: WhenLocked | undefined,
    clock: Record<string, unknown>,
  ): Promise<Answer> {
    const rows: Record<string, unknown>[] = [];
    for (const { id } of linesOf(params)) {
      const state = await (whenLocked === undefined
        ? this.#look(tx, id)
        : this.innodb.lock(tx, id, "update", whenLocked));
      if (state) rows.push({ ...shown(id, state), ...clock });
      else if ("clock" in clock) rows.push({ name: null, ...clock });
    }
    return answer(rows);
  }

  /** A read without FOR UPDATE. At SERIALIZABLE, the read locks, too. */
  async #look(tx: InnodbTransaction, id: string) {
    return tx.level === "serializable" ? this.innodb.lock(tx, id, "share", "wait") : tx.read(id);
  }

  async #lockExisting(
    tx: InnodbTransaction,
    params: readonly unknown[],
    clock: Record<string, unknown>,
  ): Promise<Answer> {
    const rows: Record<string, unknown>[] = [];
    for (const { id } of linesOf(params)) {
      if (!(await this.#look(tx, id))) continue;
      const state = await this.innodb.lock(tx, id, "update", "wait");
      if (state) rows.push({ ...shown(id, state), ...clock });
    }
    return answer(rows);
  }

  async #insert(tx: InnodbTransaction, params: readonly unknown[]): Promise<Answer> {
    const lines = linesOf(params).sort((a, b) => (a.id < b.id ? -1 : 1));
    tx.updatesDuplicates = true;
    try {
      for (const { id, numbers } of lines) {
        const [used, ts] = numbers;
        const isNew = await this.innodb.insert(tx, id, { used: used!, ts: ts! });
        if (!isNew) throw new ModelError("out of range");
      }
    } finally {
      tx.updatesDuplicates = false;
    }
    return done(lines.length);
  }

  #take(text: string, clock: () => Record<string, unknown>): Statement<InnodbTransaction> {
    const kindOfAll = text.includes("FLOOR(") ? "fixed window" : "token bucket";
    const isEither = text.includes("CASE WHEN i.`isWindow`");
    const isOne = !text.includes("JSON_TABLE(");
    // Only these statements read rows with a debt.
    const isAny = text.includes("CASE WHEN t.`used` <");
    const whenLocked = text.includes("FOR UPDATE SKIP LOCKED") ? "skip" : "wait";
    return async (tx, params) => {
      // The time at which the statement began.
      const time = clock();
      const lines = isOne
        ? [lineOfOne(kindOfAll, isAny, params)]
        : linesOf(params).map(({ id, numbers }) => {
            const names = isAny ? ANY : OWN;
            return { id, given: new Map(names.map((name, i) => [name, numbers[i]!])) };
          });
      const taken: [string, Row][] = [];
      for (const { id, given } of lines) {
        const number = (name: string) => given.get(name)!;
        const any = {
          capacity: number("capacity"),
          own: number("own"),
          least: number("least"),
          over: number("over"),
        };
        const found = await this.innodb.lock(tx, id, "update", whenLocked);
        const next =
          found &&
          takeFrom(found, {
            isWindow: isEither ? number("isWindow") === 1 : kindOfAll === "fixed window",
            rate: number("rate"),
            period: number("period"),
            most: number("most"),
            total: number("total"),
            now: number("now"),
            any: isAny ? any : undefined,
          });
        if (next) taken.push([id, next]);
      }
      for (const [id, state] of taken) this.innodb.write(tx, id, state);
      return answer(taken.map(([id, state]) => ({ ...shown(id, state), ...time })));
    };
  }

  async #update(tx: InnodbTransaction, params: readonly unknown[]): Promise<Answer> {
    const id = idOf(params[0], params[1], params[2]);
    const [used, ts, wasUsed, wasTs] = params.slice(3).map(Number);
    const found = await this.innodb.lock(tx, id, "update", "skip");
    if (!found || found.used !== wasUsed || found.ts !== wasTs) return done(0);
    this.innodb.write(tx, id, { used: used!, ts: ts! });
    return done(1);
  }

  async #updateAll(tx: InnodbTransaction, params: readonly unknown[]): Promise<Answer> {
    let found = 0;
    for (const { id, numbers } of linesOf(params)) {
      const [used, ts, wasUsed, wasTs] = numbers;
      const held = this.innodb.holds(tx, id);
      const state = await this.innodb.lock(tx, id, "update", "wait");
      if (state && state.used === wasUsed && state.ts === wasTs) {
        this.innodb.write(tx, id, { used: used!, ts: ts! });
        found++;
      } else if (!held) this.innodb.release(tx, id);
    }
    return done(found);
  }

  async #remove(tx: InnodbTransaction, params: readonly unknown[]): Promise<Answer> {
    const id = idOf(params[0], params[1], params[2]);
    const [wasUsed, wasTs] = params.slice(3).map(Number);
    const found = await this.innodb.lock(tx, id, "update", "skip");
    if (!found || found.used !== wasUsed || found.ts !== wasTs) return done(0);
    this.innodb.write(tx, id, null);
    return done(1);
  }

  /** Locks full rows, and skips rows that others have locked. */
  #lockFull(text: string): Statement<InnodbTransaction> {
    const fullRows = understandFull(text, this.rows);
    return async (tx, params) => {
      const rows: Record<string, unknown>[] = [];
      for (const id of fullRows(params)) {
        const state = await this.innodb.lock(tx, id, "update", "skip");
        const [, key, shard] = id.split("\0");
        if (state) rows.push({ key, shard: Number(shard) });
      }
      return answer(rows);
    };
  }

  /** Deletes the full rows of a list. */
  #removeFull(text: string): Statement<InnodbTransaction> {
    const isFull = understandFullness(text);
    return async (tx, [json, name, ...terms]) => {
      let found = 0;
      for (const id of idsOfList(name, json)) {
        const state = await this.innodb.lock(tx, id, "update", "wait");
        if (!state || !isFull(state, terms)) continue;
        this.innodb.write(tx, id, null);
        found++;
      }
      return done(found);
    };
  }
}

/** The columns that the check of the table finds. */
const TABLE = [
  ["name", "varchar"],
  ["key", "varchar"],
  ["shard", "int"],
  ["used", "double"],
  ["ts", "double"],
].map(([name, type]) => ({
  name,
  type,
  collation: type === "varchar" ? "utf8mb4_bin" : null,
  sent: "utf8mb4",
  received: "utf8mb4",
  primary: "name,key,shard",
}));

export function done(rowCount: number): Answer {
  return { rows: [], rowCount, command: "" };
}

/** A row as a result contains it: its numbers are texts. */
function shown(id: string, row: Row): Record<string, unknown> {
  const { used, ts, ...rest } = columnsOf(id, row);
  return { ...rest, used: String(used), ts: String(ts) };
}

interface Line {
  id: string;
  numbers: number[];
}

/** The rows of a list, and the numbers behind each. */
function linesOf([json]: readonly unknown[]): Line[] {
  return (JSON.parse(String(json)) as unknown[][]).map(([name, key, shard, ...numbers]) => ({
    id: idOf(name, key, shard),
    numbers: numbers.map(Number),
  }));
}

function lineOfOne(kind: PeriodicConfig["kind"], isAny: boolean, params: readonly unknown[]) {
  const given = new Map(TAKE_ONE[isAny ? "any" : "own"][kind].map((name, i) => [name, params[i]]));
  const id = idOf(given.get("name"), given.get("key"), given.get("shard"));
  // After `most`, a take with a debt has the capacity, the numbers of its windows or refill, and `over`.
  const after = !isAny ? 0 : kind === "fixed window" ? 4 : 5;
  given.set("most", params.at(-1 - after));
  if (isAny) given.set("over", params.at(-1));
  return { id, given: new Map([...given].map(([name, value]) => [name, Number(value)])) };
}
