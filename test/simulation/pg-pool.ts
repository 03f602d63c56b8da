/** A pool like that of `pg`, on connections of the simulation. */
import type {
  PgClientLike,
  PgPoolLike,
  PgQuery,
  PgResult,
} from "../../server/store/drivers/pg/pg-client.js";
import { Events } from "./events.js";
import type { Link, Network } from "./network.js";
import type { Process } from "./process.js";

type Connected = (error: Error | undefined, client: PgClientLike | undefined) => void;

export class SimulatedPool extends Events implements PgPoolLike {
  readonly #network: Network;
  readonly #process: Process;
  readonly #idle: SimulatedClient[] = [];
  readonly #waiting: Connected[] = [];
  readonly clients = new Set<SimulatedClient>();
  #opening = 0;
  /** An error event without a listener. In Node.js, it would have ended the process. */
  unheard: Error | undefined;

  constructor(
    network: Network,
    process: Process,
    readonly max: number,
  ) {
    super();
    this.#network = network;
    this.#process = process;
  }

  get idleCount(): number {
    return this.#idle.length;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  get lent(): number {
    return this.clients.size - this.#idle.length;
  }

  get openCount(): number {
    return this.clients.size;
  }

  /** The largest number of listeners of one event of the pool or of one of its connections. */
  get heldListeners(): number {
    return Math.max(this.mostListeners, ...[...this.clients].map((each) => each.mostListeners));
  }

  connect(callback: Connected): void {
    this.#waiting.push(callback);
    this.#serve();
  }

  async query(query: PgQuery): Promise<PgResult> {
    const client = await new Promise<PgClientLike>((resolve, reject) => {
      this.connect((error, found) => (found ? resolve(found) : reject(error!)));
    });
    try {
      return await client.query(query);
    } finally {
      client.release();
    }
  }

  #serve(): void {
    while (this.#waiting.length > 0) {
      const idle = this.#idle.pop();
      if (idle !== undefined) {
        this.#lend(this.#waiting.shift()!, idle);
        continue;
      }
      const open = this.clients.size + this.#opening;
      if (open >= this.max || this.#opening >= this.#waiting.length) return;
      this.#opening++;
      this.#network.connect(this.#process, (error, link) => {
        this.#opening--;
        if (link === undefined) {
          this.#waiting.shift()?.(error, undefined);
        } else {
          const client = new SimulatedClient(link, this);
          this.clients.add(client);
          this.#idle.push(client);
        }
        this.#serve();
      });
    }
  }

  #lend(callback: Connected, client: SimulatedClient): void {
    client.isLent = true;
    this.emit("acquire", client);
    queueMicrotask(() => callback(undefined, client));
  }

  /** A client was given back. */
  takeBack(client: SimulatedClient, isBroken: boolean): void {
    client.isLent = false;
    if (isBroken || client.isBroken) this.remove(client);
    else this.#idle.push(client);
    this.#serve();
  }

  remove(client: SimulatedClient): void {
    this.clients.delete(client);
    const index = this.#idle.indexOf(client);
    if (index >= 0) this.#idle.splice(index, 1);
    client.link.end();
  }

  /** A client broke. */
  broke(client: SimulatedClient, error: Error): void {
    const wasIdle = !client.isLent;
    const isHeard = wasIdle ? this.emit("error", error) : client.emit("error", error);
    if (!isHeard) this.unheard = error;
    if (wasIdle) this.remove(client);
    this.#serve();
  }
}

class SimulatedClient extends Events implements PgClientLike {
  isLent = false;
  isBroken = false;
  #line: Promise<unknown> = Promise.resolve();

  constructor(
    readonly link: Link,
    readonly pool: SimulatedPool,
  ) {
    super();
    link.onBreak = (error) => {
      if (this.isBroken) return;
      this.isBroken = true;
      pool.broke(this, error);
    };
  }

  /** Runs one statement at a time, in order. */
  query({ text, values = [] }: PgQuery): Promise<PgResult> {
    const sent = this.#line.then(() => this.link.send(text, values));
    this.#line = sent.catch(() => {});
    return sent;
  }

  release(error?: Error | boolean): void {
    if (!this.isLent) throw new Error("Release called on client which has already been released");
    if (error) this.isBroken = true;
    this.pool.takeBack(this, Boolean(error));
  }
}
