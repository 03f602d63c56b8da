/**
 * A process of a run: it runs a visitor's code, with a memory of its own, a clock that the page sets, and
 * chance that comes from the seed. It acts only when the page tells it to.
 */
import { type Database, databaseOf, type Send, textOf } from "./database.js";
import { type Ended, MOST, type Op, type ToProcess } from "./protocol.js";
import { randomFrom } from "./random.js";

/** What the code may use beside the language. */
export type Tools = Record<string, unknown>;

interface Waiting {
  /** Runs at the table, for `update`. */
  apply: ((values: unknown[]) => { values: unknown[]; result: unknown }) | undefined;
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** What `apply` has given, until the answer is there. */
  applied?: { ok: true; result: unknown } | { ok: false; error: unknown };
}

/** All calls are of one caller. */
const KEY = "caller";
/** A time that is the same in every run, epoch ms. */
const EPOCH = Date.UTC(2026, 0, 1);

/**
 * @param toolsOf further tools, by the clock of the process and its table.
 * @returns all tools of the process.
 */
export function serveProcess(
  port: MessagePort,
  toolsOf: (clock: () => number, db: Database) => Tools,
): Tools {
  let [now, ids, calling] = [0, 0, -1];
  let allow: ((key: string, db: Database) => unknown) | undefined;
  let random = Math.random;
  let ops: Op[] = [];
  let ended: Ended[] = [];
  const waiting = new Map<number, Waiting>();
  const post = port.postMessage.bind(port);
  const reply = (message: object) => post(JSON.stringify(message));
  const clock = () => EPOCH + now;

  const sendAs =
    (sender: number): Send =>
    ({ kind, keys, value = null, amount = 0 }, atTable) =>
      new Promise((resolve, reject) => {
        if (ops.length >= MOST.opsAtOnce) throw new RangeError("too many statements at once");
        const id = ids++;
        waiting.set(id, { apply: atTable, resolve, reject });
        ops.push({ id, call: sender < 0 ? calling : sender, kind, keys, value, amount });
      });

  /** The timers of the code go by the time of the run. */
  const sleeping = new Set<number>();
  const tools: Tools = {
    setTimeout: (then: () => void, ms: unknown) => {
      const id = ids;
      sleeping.add(id);
      void sendAs(-1)({ kind: "sleep", keys: [], amount: Number(ms) || 0 }).then(() => {
        if (sleeping.delete(id)) then();
      });
      return id;
    },
    clearTimeout: (id: number) => void sleeping.delete(id),
    Date: class extends Date {
      constructor(...given: unknown[]) {
        super(...((given.length === 0 ? [clock()] : given) as [number]));
      }
      static override now = clock;
    },
    Math: Object.create(Math, { random: { value: () => random() } }),
    performance: { now: () => now },
    ...toolsOf(clock, databaseOf(sendAs(-1))),
  };

  function load(code: string, seed: number): string {
    random = randomFrom(seed + 1);
    try {
      const body = `"use strict";\n${code}\n;return typeof allow === "function" ? allow : undefined;`;
      // oxlint-disable-next-line typescript/no-implied-eval -- this is what the page is for
      allow = new Function(...Object.keys(tools), body)(...Object.values(tools));
      return allow === undefined ? "The code declares no function allow(key, db)" : "";
    } catch (error) {
      return problemOf(error);
    }
  }

  async function call(number: number): Promise<void> {
    try {
      calling = number;
      const answer = allow!(KEY, databaseOf(sendAs(number)));
      calling = -1;
      const outcome = (await answer) ? "granted" : "denied";
      ended.push({ call: number, outcome, problem: "" });
    } catch (error) {
      calling = -1;
      ended.push({ call: number, outcome: "failed", problem: problemOf(error) });
    }
  }

  function apply(each: Waiting, texts: (string | null)[]): (string | null)[] | null {
    try {
      const values = texts.map((text) => (text === null ? undefined : JSON.parse(text)));
      const { values: next, result } = each.apply!(values);
      const written = next.map((value) => (value === undefined ? null : textOf(value)));
      each.applied = { ok: true, result };
      return written;
    } catch (error) {
      each.applied = { ok: false, error };
      return null;
    }
  }

  function answered({ id, value, problem }: Extract<ToProcess, { type: "answer" }>): void {
    const each = waiting.get(id);
    waiting.delete(id);
    if (each?.applied?.ok === false) each.reject(each.applied.error);
    else if (each?.applied) each.resolve(each.applied.result);
    else if (problem !== "") each?.reject(new Error(problem));
    else each?.resolve(value === null ? null : JSON.parse(value));
  }

  port.addEventListener("message", ({ data }: MessageEvent) => {
    const message = JSON.parse(data as string) as ToProcess;
    if ("now" in message) ({ now } = message);
    if (message.type === "load") {
      reply({ type: "loaded", problem: load(message.code, message.seed) });
    } else if (message.type === "start") void call(message.call);
    else if (message.type === "answer") answered(message);
    else if (message.type === "apply") {
      reply({ type: "applied", values: apply(waiting.get(message.id)!, message.values) });
    } else {
      const [sent, done] = [ops, ended];
      [ops, ended] = [[], []];
      reply({ type: "events", ops: sent, ended: done });
    }
  });
  port.start();
  return tools;
}

function problemOf(error: unknown): string {
  return String(error).slice(0, MOST.problem);
}
