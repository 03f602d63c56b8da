/**
 * A run: two processes make fifty calls at one table. Time is made up, and goes from event to event, so
 * that the same code and seed give the same run on every machine. Each statement is on its way to the
 * table for some ms, and its answer is on its way back for some ms, whatever the statement is.
 */
import { Connection, StoppedError } from "./connection.js";
import { type Ended, MOST, type Op } from "./protocol.js";
import { randomFrom } from "./random.js";
import { shown, Table } from "./table.js";

export const LIMIT = 10;
export const PROCESSES = 2;
export const CALLS_EACH = 25;
export const CALLS = PROCESSES * CALLS_EACH;

/** Each way takes 2 to 8 ms. The calls of a process start within 30 ms. */
const WAY = { least: 2, span: 6 };
const SPREAD = 30;

export interface Step {
  /** ms of the run. */
  at: number;
  /** From 0. */
  process: number;
  /** From 0; -1 if the process does not say it. */
  call: number;
  kind: "read" | "write" | "count" | Ended["outcome"];
  text: string;
}

export interface Run {
  granted: number;
  /** In the order in which the calls had their answers. */
  answers: { process: number; call: number; outcome: Ended["outcome"] }[];
  steps: Step[];
  /** The place of the eleventh grant in `steps`, if there is one. */
  eleventh: number | undefined;
  /** The first error of a call, or `""`. */
  failure: string;
  /** Why the run was stopped, or `""`. */
  stopped: string;
}

interface Event {
  at: number;
  /** Breaks ties, so that the order is fixed. */
  order: number;
  happen(): Promise<void>;
}

/**
 * @param ports a port to each process.
 * @param seed a whole number from 0 to below 2^32.
 * @param isLate whether the run takes too long, and is stopped. @default never
 */
export async function runCount(
  { code, seed }: { code: string; seed: number },
  ports: readonly MessagePort[],
  isLate: () => boolean = () => false,
): Promise<Run> {
  const random = randomFrom(seed);
  const table = new Table();
  const connections = ports.map((port) => new Connection(port));
  const queue: Event[] = [];
  const run: Run = {
    granted: 0,
    answers: [],
    steps: [],
    eleventh: undefined,
    failure: "",
    stopped: "",
  };
  const open = ports.map(() => new Set(Array.from({ length: CALLS_EACH }, (_, call) => call)));
  let [now, events, ops] = [0, 0, 0];

  const after = (ms: number, happen: Event["happen"]) =>
    void queue.push({ at: now + ms, order: events++, happen });
  const way = () => WAY.least + WAY.span * random();
  const note = (step: Omit<Step, "at">) => void run.steps.push({ at: now, ...step });

  async function collect(process: number): Promise<void> {
    const found = await connections[process]!.ask({ type: "collect" }, "events");
    for (const ended of found.ended) end(process, ended);
    for (const op of found.ops) {
      if (++ops > MOST.ops) throw new StoppedError(`It sent more than ${MOST.ops} statements`);
      const ms = op.kind === "sleep" ? Math.min(Math.max(1, op.amount), 60_000) : way();
      after(ms, () => arrive(process, op));
    }
  }

  function end(process: number, { call, outcome, problem }: Ended): void {
    if (!open[process]!.delete(call)) throw new StoppedError("It answered a call twice");
    run.answers.push({ process, call, outcome });
    if (outcome === "granted" && ++run.granted === LIMIT + 1) run.eleventh = run.steps.length;
    if (outcome === "failed") run.failure ||= problem;
    const text = outcome === "granted" ? `granted (${run.granted})` : outcome;
    note({ process, call, kind: outcome, text });
  }

  async function arrive(process: number, op: Op): Promise<void> {
    if (op.kind === "sleep") return answer(process, op.id, null, "");
    const found = op.kind === "update" ? await update(process, op) : table.run(op, now);
    note({ process, call: op.call, kind: found.kind, text: found.text });
    after(way(), () => answer(process, op.id, found.value, found.problem));
    return undefined;
  }

  /** The code of the statement runs in its process, and nothing else happens until it has. */
  async function update(process: number, { id, keys }: Op): Promise<ReturnType<Table["run"]>> {
    const values = keys.map((key) => table.read(key, now));
    const { values: next } = await connections[process]!.ask(
      { type: "apply", id, values, now },
      "applied",
    );
    if (next !== null && next.length !== keys.length) {
      throw new StoppedError("It sent a message of its own");
    }
    next?.forEach((value, i) => table.write(keys[i]!, value, now));
    const [before = null, later = null] = [values[0], next?.[0]];
    const isKept = next === null || next.every((value, i) => value === values[i]);
    const text = isKept ? `keeps ${shown(before)}` : `${shown(before)} becomes ${shown(later)}`;
    return { value: null, problem: "", kind: isKept ? "read" : "count", text };
  }

  function answer(process: number, id: number, value: string | null, problem: string) {
    connections[process]!.send({ type: "answer", id, value, problem, now });
    return collect(process);
  }

  try {
    for (const connection of connections) {
      await connection.begin();
      const { problem } = await connection.ask({ type: "load", code, seed }, "loaded");
      if (problem !== "") throw new StoppedError(problem);
    }
    connections.forEach((connection, process) => {
      for (let call = 0; call < CALLS_EACH; call++) {
        after(SPREAD * random(), () => {
          connection.send({ type: "start", call, now });
          return collect(process);
        });
      }
    });
    while (queue.length > 0 && open.some(({ size }) => size > 0)) {
      if (isLate()) throw new StoppedError("It took too long");
      queue.sort((a, b) => b.at - a.at || b.order - a.order);
      const event = queue.pop()!;
      now = event.at;
      await event.happen();
    }
    if (run.answers.length < CALLS) run.failure ||= "some calls wait for nothing, and never end";
  } catch (error) {
    if (!(error instanceof StoppedError)) throw error;
    run.stopped = error.message;
  } finally {
    for (const connection of connections) connection.close();
  }
  return run;
}
