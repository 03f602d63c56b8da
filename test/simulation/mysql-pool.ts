/** A pool like that of `mysql2/promise`, on connections of the simulation. */
import type {
  MysqlConnectionLike,
  MysqlQuery,
  PoolInternals,
} from "../../server/store/drivers/mysql/mysql-client.js";
import { Events } from "./events.js";
import type { Answer } from "./model/server.js";
import type { Link, Network } from "./network.js";
import type { Process } from "./process.js";

interface Waiting {
  resolve(connection: SimulatedConnection): void;
  reject(error: Error): void;
}

const CLOSED = "Can't add new command when connection is in closed state";

export class SimulatedMysqlPool {
  readonly #network: Network;
  readonly #process: Process;
  /** The internals of the pool inside of `mysql2/promise` that the package reads. */
  readonly pool: PoolInternals["pool"];
  readonly #free: SimulatedConnection[] = [];
  readonly #queue: Waiting[] = [];
  readonly #all = new Set<SimulatedConnection>();
  #opening = 0;
  /** An error event without a listener. A pool of `mysql2` emits no such event. */
  readonly unheard: Error | undefined;

  constructor(
    network: Network,
    process: Process,
    readonly max: number,
  ) {
    this.#network = network;
    this.#process = process;
    this.pool = { ["_freeConnections"]: this.#free, ["_connectionQueue"]: this.#queue };
  }

  get lent(): number {
    return this.#all.size - this.#free.length;
  }

  get openCount(): number {
    return this.#all.size;
  }

  get waitingCount(): number {
    return this.#queue.length;
  }

  /** The largest number of listeners of one event of a connection. */
  get heldListeners(): number {
    return Math.max(0, ...[...this.#all].map((each) => each.mostListeners));
  }

  getConnection(): Promise<SimulatedConnection> {
    return new Promise((resolve, reject) => this.#lend({ resolve, reject }));
  }

  #lend(waiting: Waiting): void {
    const free = this.#free.pop();
    if (free !== undefined) {
      free.isLent = true;
      waiting.resolve(free);
    } else if (this.#all.size + this.#opening < this.max) this.#open(waiting);
    else this.#queue.push(waiting);
  }

  #open(waiting: Waiting): void {
    this.#opening++;
    this.#network.connect(this.#process, (error, link) => {
      this.#opening--;
      if (link === undefined) {
        waiting.reject(fatal(error!));
        this.#openNext();
        return;
      }
      const connection = new SimulatedConnection(link, this);
      this.#all.add(connection);
      waiting.resolve(connection);
    });
  }

  /** Opens a connection for the next waiting call, since there is room for one. */
  #openNext(): void {
    const next = this.#queue.shift();
    if (next !== undefined) this.#lend(next);
  }

  takeBack(connection: SimulatedConnection): void {
    const next = this.#queue.shift();
    if (next !== undefined) next.resolve(connection);
    else {
      connection.isLent = false;
      this.#free.push(connection);
    }
  }

  remove(connection: SimulatedConnection): void {
    if (!this.#all.delete(connection)) return;
    const index = this.#free.indexOf(connection);
    if (index >= 0) this.#free.splice(index, 1);
    this.#openNext();
  }
}

export class SimulatedConnection extends Events implements MysqlConnectionLike {
  isLent = true;
  #isClosed = false;
  /** Whether this side has closed the connection. Statements under way then never get an answer. */
  #isDestroyed = false;
  #line: Promise<unknown> = Promise.resolve();

  constructor(
    readonly link: Link,
    readonly pool: SimulatedMysqlPool,
  ) {
    super();
    link.onBreak = () => this.#close();
  }

  query({ sql, values = [] }: MysqlQuery): Promise<unknown> {
    if (this.#isClosed) {
      return Promise.reject(Object.assign(new Error(CLOSED), { fatal: true }));
    }
    return new Promise((resolve, reject) => {
      const sent = this.#line.then(() => {
        if (this.#isClosed) throw connectionLost();
        return this.link.send(sql, values);
      });
      this.#line = sent.catch(() => {});
      sent.then(
        (answer) => this.#isDestroyed || resolve(shown(answer)),
        (error: Error) => this.#isDestroyed || reject(fatal(error)),
      );
    });
  }

  execute(query: MysqlQuery): Promise<unknown> {
    return this.query(query);
  }

  release(): void {
    if (!this.isLent || this.#isClosed) return;
    this.pool.takeBack(this);
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#close();
    this.link.end();
  }

  #close(): void {
    this.#isClosed = true;
    this.pool.remove(this);
  }
}

/** The result in the form of `mysql2`: rows and fields, or what a statement without rows has done. */
function shown({ command, rows, rowCount }: Answer): unknown[] {
  return command === "SELECT" ? [rows, []] : [{ affectedRows: rowCount }, undefined];
}

/** Marks errors of the connection as fatal, since they end it. */
function fatal(error: Error): Error {
  const { errno, code } = error as { errno?: number; code?: string };
  if (typeof errno === "number") return error;
  return Object.assign(error, { errno: code === "ECONNREFUSED" ? -111 : -104, fatal: true });
}

function connectionLost(): Error {
  const message = "Connection lost: The server closed the connection.";
  return Object.assign(new Error(message), { code: "PROTOCOL_CONNECTION_LOST", fatal: true });
}
