/** Runs a schedule on a model and on the real database, step by step, and stops where the two differ. */
import { createRandom } from "../random.js";
import type { ModelServer } from "../model/server.js";
import { idOf, type Stored } from "../model/rows.js";
import { settle, Timeline } from "../timeline.js";
import { type Backend, everyOtherTime } from "./backends.js";
import { type Actor, anyUse, type Context, nextAction, rowsOf } from "./schedule.js";
import { type Pending, type RealSession, Tandem } from "./tandem.js";

/** A statement without an answer for this long counts as waiting, ms. */
const PATIENCE = 40;
/** How long an answer that must come may take, ms. */
const LATEST = 5000;
const STEPS = 14;
const TIMED_OUT = /^error: lock (not available|wait time-out)$/;
const DEADLOCK = "error: deadlock";

/** How a schedule ended. */
export type Ending =
  | "agreed"
  /** PostgreSQL has found a conflict of reads and writes, because it tracks them by the page. */
  | "stricter"
  /** The model has found a conflict of reads and writes that PostgreSQL can order. */
  | "weaker"
  /** The model and the database have chosen different victims of a deadlock. */
  | "other victim"
  /** Two statements that waited for the end of one transaction went on in another order. */
  | "other order"
  | "disagreed";

export interface Compared {
  ending: Ending;
  statements: number;
  waits: number;
  /** The number of waits that have reached their bound. */
  timeouts: number;
  errors: string[];
  /** The statements and their answers, to see where both sides disagree. */
  log: string[];
}

class Ended extends Error {
  constructor(readonly ending: Ending) {
    super(ending);
  }
}

const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param sessions the first session only prepares and reads. */
export async function compare(
  backend: Backend,
  [admin, ...sessions]: readonly RealSession[],
  seed: number,
): Promise<Compared> {
  const compared: Compared = {
    ending: "agreed",
    statements: 0,
    waits: 0,
    timeouts: 0,
    errors: [],
    log: [],
  };
  const run = new Run(backend, admin!, compared, seed);
  await run.prepare();
  try {
    await run.all(sessions);
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
    compared.ending = error.ending;
    run.noteRest();
  }
  await Promise.all(sessions.map((session) => session.run("ROLLBACK")));
  return compared;
}

class Run {
  readonly #timeline = new Timeline();
  readonly #model: ModelServer;
  readonly #pending: Pending[] = [];
  #hasDeleted = false;
  readonly #random;
  readonly #ids;
  readonly #endsWaits;

  constructor(
    readonly backend: Backend,
    readonly admin: RealSession,
    readonly compared: Compared,
    seed: number,
  ) {
    this.#model = backend.model(this.#timeline);
    this.#random = createRandom(seed);
    this.#ids = rowsOf(seed);
    // Waits that end by themselves take real time, so only some schedules have them.
    this.#endsWaits = seed % 5 === 0;
  }

  async prepare(): Promise<void> {
    const { admin, backend } = this;
    const states = new Map<string, Stored>();
    for (const { name, key, shard } of this.#ids) {
      if (this.#random.chance(0.4)) continue;
      const state = { used: anyUse(this.#random), ts: 1000 };
      states.set(idOf(name, key, shard), state);
      await admin.run(
        `INSERT INTO ${backend.table} VALUES ('${name}', '${key}', ${shard}, ${state.used}, ${state.ts})`,
      );
    }
    this.#model.rows.restore(states);
    this.compared.log.push(`begins with ${JSON.stringify([...states])}`);
  }

  async all(sessions: readonly RealSession[]): Promise<void> {
    const { backend } = this;
    const random = this.#random;
    const { dialect, version } = backend;
    const statements = dialect.statements({ name: "RateLimit" }, everyOtherTime(), version);
    const endsWaits = this.#endsWaits;
    const rows = this.#model.rows;
    const context: Context = { backend, statements, rows, ids: this.#ids, random, endsWaits };
    const actors = sessions.map((session, connection): Actor => {
      const { reasonOf } = backend;
      const edit = (text: string) => backend.edit(text, endsWaits);
      const onSend = (pending: Pending) => {
        this.compared.log.push(`${connection} sends ${pending.text.slice(0, 30)}`);
        this.#pending.push(pending);
        this.compared.statements++;
        if (pending.text.includes("DELETE")) this.#hasDeleted = true;
      };
      const options = { edit, reasonOf, onSend };
      const tandem = new Tandem(connection, this.#model.connect(), session, options);
      return { tandem, level: undefined, hasFailed: false, isBusy: false };
    });
    for (let step = 0; step < STEPS; step++) {
      const idle = actors.filter(({ isBusy }) => !isBusy);
      if (idle.length === 0) break;
      const actor = random.pick(idle);
      await this.#act(actor, nextAction(actor, context));
    }
    for (;;) {
      const left = actors.find(({ isBusy, level }) => !isBusy && level !== undefined);
      if (left === undefined) break;
      const command = random.chance(0.7) && !left.hasFailed ? "COMMIT" : "ROLLBACK";
      await this.#act(left, () => left.tandem.run(command));
    }
    await this.#compareTables();
  }

  async #act(actor: Actor, run: () => Promise<unknown>): Promise<void> {
    actor.isBusy = true;
    void run()
      .catch(() => (actor.hasFailed = true))
      .finally(() => {
        actor.isBusy = false;
        if (!actor.tandem.model.isInTransaction) {
          actor.level = undefined;
          actor.hasFailed = false;
        }
      });
    await this.#quiesce();
    if (this.#hasDeleted) await this.backend.rest(this.admin, 100);
  }

  /** Goes on until each statement has its answer, or waits on both sides. */
  async #quiesce(): Promise<void> {
    for (;;) {
      // A statement asks for its second row after it has the first row.
      await settle();
      // Later than the search for deadlocks, and earlier than any bound of a wait.
      await this.#timeline.run(this.#timeline.now + 1500);
      await settle();
      const answered = this.#pending.findLast(({ model }) => model !== undefined);
      if (answered !== undefined) {
        await this.#compareOutcomes(answered);
        this.#pending.splice(this.#pending.indexOf(answered), 1);
        answered.settle();
        await settle();
        continue;
      }
      if (this.#pending.length === 0) return;
      await delay(PATIENCE);
      const early = this.#pending.find(({ real }) => real !== undefined);
      if (early === undefined) {
        this.compared.waits += this.#pending.length;
        for (const pending of this.#pending) pending.hasWaited = true;
        return;
      }
      this.#note(early);
      const { real } = early;
      if (real!.kind === "error" && isOfReads(real!.error)) throw new Ended("stricter");
      throw new Ended("disagreed");
    }
  }

  async #compareOutcomes(answered: Pending): Promise<void> {
    const model = answered.model!;
    const others = this.#pending.filter((each) => each !== answered);
    const isDeadlock = model.shown === DEADLOCK;
    const hasOther = () => isDeadlock && others.some(({ real }) => real?.shown === DEADLOCK);
    const until = performance.now() + LATEST;
    const isOpen = () =>
      answered.real === undefined || (isDeadlock && answered.real.shown !== DEADLOCK);
    while (isOpen() && !hasOther() && performance.now() < until) await delay(1);
    this.#note(answered);
    const { real, text } = answered;
    if (model.kind === "error") this.compared.errors.push(model.shown);
    if (TIMED_OUT.test(model.shown) && !text.includes("NOWAIT")) this.compared.timeouts++;
    if (real?.shown !== DEADLOCK && hasOther()) throw new Ended("other victim");
    if (real?.shown === model.shown) return;
    const isOthers = others.some((each) => each.model?.shown === DEADLOCK);
    if (real?.shown === DEADLOCK && isOthers) throw new Ended("other victim");
    const areFree = answered.hasWaited && others.some((each) => each.hasWaited && each.model);
    if (areFree) throw new Ended("other order");
    if (real?.kind === "error" && isOfReads(real.error)) throw new Ended("stricter");
    const isModels = model.shown === "error: serialization failure" && text === "COMMIT";
    throw new Ended(isModels ? "weaker" : "disagreed");
  }

  /** Logs the statements that have no answer on both sides. */
  noteRest(): void {
    this.compared.log.push("without an answer:");
    for (const pending of this.#pending) this.#note(pending);
  }

  #note({ connection, text, params, model, real }: Pending): void {
    const short = text.replaceAll(/\s+/g, " ").trim();
    this.compared.log.push(
      `${connection}: ${short} ${JSON.stringify(params)}\n` +
        `   model: ${model?.shown ?? "waits"}\n   real:  ${real?.shown ?? "waits"}`,
    );
  }

  async #compareTables(): Promise<void> {
    const found = await this.admin.query(
      `SELECT * FROM ${this.backend.table} WHERE name = '${this.#ids[0]!.name}'`,
      [],
    );
    const real = found.map((row) => {
      return `${idOf(row["name"], row["key"], row["shard"])} ${Number(row["used"])} ${Number(row["ts"])}`;
    });
    const model = this.#model.rows.all().map(([id, { used, ts }]) => `${id} ${used} ${ts}`);
    if (real.sort().join() === model.sort().join()) return;
    this.compared.log.push(`at the end\n   model: ${model.join()}\n   real:  ${real.join()}`);
    throw new Ended("disagreed");
  }
}

/** Whether PostgreSQL has failed because of reads, and not because of a changed row. */
function isOfReads(error: Error): boolean {
  return error.message.includes("read/write dependencies");
}
