/**
 * The network between processes and a database: connections with a delay, which can break, fall silent or
 * be slow. One connection keeps the order of its messages. Two connections have no common order.
 */
import { type Fault, type FaultPlan, faultOfStatement, type Tally } from "./faults.js";
import type { ModelTransaction } from "./model/rows.js";
import type { Answer, ModelServer, ModelSession } from "./model/server.js";
import type { Process } from "./process.js";
import type { Random } from "./random.js";
import type { Timeline } from "./timeline.js";

export interface NetworkOptions {
  timeline: Timeline;
  random: Random;
  /** The delay of one way, ms. */
  delay: { least: number; most: number };
  plan: FaultPlan;
  tally: Tally<Fault>;
}

/**
 * How long a server takes to notice that the other side of a connection is gone, ms. A client takes twice
 * as long.
 */
const KEEPALIVE = 30_000;

export class Network {
  readonly options: NetworkOptions;
  server: ModelServer;
  readonly links = new Set<Link>();
  /** Before this instant, no message arrives at the server or leaves it. */
  frozenUntil = 0;
  /** New connections are refused before this instant. */
  refusedUntil = 0;
  /** Called for each commit that has written a row. */
  onCommit: ((tx: ModelTransaction) => void) | undefined;
  /** Faults of statements happen while this is true. */
  isFaulty = true;
  /** The number of statements that were sent on connections that had refused to write. */
  reuses = 0;
  constructor(server: ModelServer, options: NetworkOptions) {
    this.server = server;
    this.options = options;
  }

  delay(): number {
    const { random, delay } = this.options;
    const span = delay.most - delay.least;
    // Most messages are quick. Some take several times as long.
    return delay.least + span * random.next() ** 3;
  }

  /** Opens a connection. */
  connect(process: Process, done: (error: Error | undefined, link?: Link) => void): void {
    const { timeline } = this.options;
    timeline.plan(3 * this.delay(), () => {
      if (timeline.now < this.refusedUntil) {
        const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
        return process.read(() => done(refused));
      }
      const link = new Link(this, process);
      this.links.add(link);
      process.read(() => done(undefined, link));
    });
  }

  /** Breaks connections, so that both sides know. */
  reset(which: (link: Link) => boolean = () => true): void {
    for (const link of this.links) if (which(link)) link.reset();
  }

  /** Closes the connections of a process that has ended. */
  forget(process: Process): void {
    this.reset((link) => link.process === process);
  }

  /** Lets connections fall silent. The server notices after a while. */
  silence(which: (link: Link) => boolean): void {
    for (const link of this.links) if (which(link)) link.silence();
  }
}

interface Pending {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

export class Link {
  readonly #network: Network;
  readonly process: Process;
  readonly #session: ModelSession;
  readonly #pending = new Set<Pending>();
  #state: "open" | "silent" | "closed" = "open";
  /** No message may arrive before an earlier message. */
  #requestsUntil = 0;
  #answersUntil = 0;
  #line: Promise<unknown> = Promise.resolve();
  /** Whether the process knows that the server accepts no writes. */
  #hasRefused = false;
  /** Called when the connection breaks. */
  onBreak: ((error: Error) => void) | undefined;

  constructor(network: Network, process: Process) {
    this.#network = network;
    this.process = process;
    network.server.rows.onCommit = (tx) => network.onCommit?.(tx);
    this.#session = network.server.connect();
  }

  /** Whether nothing is under way on the connection, on either side. */
  get isIdle(): boolean {
    return this.#state === "open" && this.#pending.size === 0 && !this.#session.isInTransaction;
  }

  /** Sends a statement. Rejects with the error of the database, or of the connection. */
  send(text: string, params: readonly unknown[]): Promise<Answer> {
    const network = this.#network;
    const { timeline, random, plan, tally } = network.options;
    if (this.#state === "closed") return Promise.reject(connectionError());
    const isRollback = this.#session.isInTransaction || text === "ROLLBACK";
    if (this.#hasRefused && !isRollback) network.reuses++;
    const fault = network.isFaulty ? faultOfStatement(plan, random) : undefined;
    if (fault) tally.note(fault);
    const sentAt = timeline.now;
    return new Promise((resolve, reject) => {
      const pending = { resolve, reject };
      this.#pending.add(pending);
      if (fault === "silent before") this.silence();
      if (this.#state === "silent") return;
      const extra = fault === "slow request" ? random.between(50, 6000) : 0;
      const arrival = this.#arrival(this.#requestsUntil, extra);
      this.#requestsUntil = arrival;
      timeline.plan(arrival - timeline.now, () => {
        if (fault === "reset before") return this.reset();
        if (this.#state !== "open") return;
        this.#line = this.#line.then(() => this.#execute(text, params, pending, fault, sentAt));
      });
    });
  }

  async #execute(
    text: string,
    params: readonly unknown[],
    pending: Pending,
    fault: Fault | undefined,
    sentAt: number,
  ): Promise<void> {
    if (this.#state === "closed") return;
    const { timeline, random } = this.#network.options;
    let settle: () => void;
    let isReadOnly = false;
    try {
      const answer = await this.#session.query(text, params, sentAt);
      settle = () => pending.resolve(answer);
    } catch (error) {
      isReadOnly = (error as Error).message === "model: read-only";
      settle = () => pending.reject(error as Error);
    }
    if (fault === "reset after") return this.reset();
    if (fault === "silent after") this.silence();
    if (this.#state !== "open") return;
    const extra = fault === "slow answer" ? random.between(50, 6000) : 0;
    const arrival = this.#arrival(this.#answersUntil, extra);
    this.#answersUntil = arrival;
    timeline.plan(arrival - timeline.now, () => {
      if (this.#state !== "open") return;
      this.process.read(() => {
        if (!this.#pending.delete(pending)) return;
        this.#hasRefused ||= isReadOnly;
        settle();
      });
    });
  }

  #arrival(notBefore: number, extra: number): number {
    const { timeline } = this.#network.options;
    const base = Math.max(timeline.now, this.#network.frozenUntil);
    return Math.max(notBefore, base + this.#network.delay() + extra);
  }

  /** Both sides learn that the connection is broken. */
  reset(): void {
    if (this.#state === "closed") return;
    const wasSilent = this.#state === "silent";
    this.#close();
    if (wasSilent) return;
    const { timeline } = this.#network.options;
    timeline.plan(this.#network.delay(), () => {
      this.process.read(() => this.#break());
    });
  }

  #break(): void {
    const error = connectionError();
    for (const pending of this.#pending) pending.reject(error);
    this.#pending.clear();
    this.onBreak?.(error);
  }

  silence(): void {
    if (this.#state !== "open") return;
    this.#state = "silent";
    const { timeline } = this.#network.options;
    timeline.plan(KEEPALIVE, () => this.#close());
    timeline.plan(2 * KEEPALIVE, () => this.process.read(() => this.#break()));
  }

  /** Called when the process closes the connection. */
  end(): void {
    const isHeard = this.#state === "open";
    const { timeline } = this.#network.options;
    const error = connectionError();
    const left = [...this.#pending];
    this.#pending.clear();
    this.process.read(() => left.forEach(({ reject }) => reject(error)));
    if (!isHeard) return;
    // The close arrives after the requests that were sent before it.
    timeline.plan(Math.max(this.#network.delay(), this.#requestsUntil - timeline.now), () =>
      this.#close(),
    );
  }

  #close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#session.close();
    this.#network.links.delete(this);
  }
}

function connectionError(): Error {
  return Object.assign(new Error("Connection terminated unexpectedly"), { code: "ECONNRESET" });
}
