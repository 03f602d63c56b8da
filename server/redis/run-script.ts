/**
 * Runs the scripts on one server, or on the master of one tag. Learns the time of that server from
 * replies.
 */
import type { Row } from "../../core/rows/row.js";
import type { PeriodicConfig } from "../../core/config.js";
import type { TakeLine } from "../store/row-access.js";
import type { DatabaseClock } from "../store/sql/table/database-clock.js";
import { type Mark, Marks } from "./marks.js";
import { isNoScript, RedisConflictError, RedisLateError, RedisStoreError } from "./redis-errors.js";
import type { RedisPort } from "./redis-port.js";
import { createInstantText, stateOf, takeOneWords } from "./row-words.js";
import { type ScriptName, SCRIPTS } from "./scripts.js";
import type { Tags } from "./tags.js";

/** How long a command may be on its way, ms, before Redis refuses it. */
export const LIFE = 10_000;
/**
 * How old the known time of the server may get, ms. Most replies have the time, but few replies are read
 * for it.
 */
const LEARN_AFTER = 500;

/** The number of replicas for which `redisStore` waits after a write, and for how long. */
export interface WaitOptions {
  /** The number of replicas that must have a write before its calls are answered; 1 or more. */
  replicas: number;
  /** How long to wait for the replicas, ms. Calls are rejected after that time. */
  timeout: number;
}

export interface ScriptRunner {
  readonly clock: DatabaseClock;
  /** Learns the time of the server. */
  readTime(): Promise<void>;
  /** The words of the reply. Rejects with a `RedisConflictError` if nothing was carried out. */
  run(name: ScriptName, keys: readonly string[], args: readonly string[]): Promise<string[]>;
  /** Takes from one row, in fewer steps than `run`. `undefined` if nothing was taken. */
  takeOne(key: string, line: TakeLine<PeriodicConfig>, now: number): Promise<Row | undefined>;
  /**
   * Whether `takeOne` is allowed now. The reply of `takeOne` lacks the server's time, which has to be
   * learned now and then. `takeOne` also waits for no replica.
   */
  mayTakeOne(): boolean;
  /** Sends a command without keys to the server. */
  send(args: readonly string[]): Promise<unknown>;
}

export interface RunnerOptions {
  port: RedisPort;
  tags: Tags;
  /** The tag that leads to the server. */
  place: number;
  clock: DatabaseClock;
  shas: ReadonlyMap<ScriptName, string>;
  wait: WaitOptions | undefined;
}

export function createScriptRunner(options: RunnerOptions): ScriptRunner {
  return new Runner(options);
}

class Runner implements ScriptRunner {
  readonly clock: DatabaseClock;
  readonly #options: RunnerOptions;
  readonly #routingKey: string;
  readonly #marks: Marks | undefined;
  readonly #deadlineText = createInstantText();
  readonly #nowText = createInstantText();
  /**
   * When the last command was sent of which the reply was read for the server's time, by the monotonic
   * clock.
   */
  #learnedAt = -Infinity;

  constructor(options: RunnerOptions) {
    const { port, tags, place, clock } = options;
    this.clock = clock;
    this.#options = options;
    this.#routingKey = tags.ownKey(place, "");
    this.#marks = port.resends ? new Marks((name) => tags.ownKey(place, name)) : undefined;
  }

  readonly send = (args: readonly string[]): Promise<unknown> =>
    this.#options.port.send(args, this.#routingKey);

  async readTime(): Promise<void> {
    const learn = this.clock.begin();
    learn(timeOf((await this.send(["TIME"])) as unknown[]));
  }

  async run(name: ScriptName, keys: readonly string[], args: readonly string[]): Promise<string[]> {
    const isOnce = name === "take" || name === "write";
    let mark: Mark | undefined;
    let all: string[];
    const sentAt = performance.now();
    const learn = this.#wantsTime() ? this.clock.begin() : undefined;
    const deadline = String(this.clock.now() + LIFE);
    if (isOnce) {
      mark = this.#marks?.take();
      const count = keys.length + (mark === undefined ? 0 : 1);
      all = [String(count), ...keys];
      if (mark !== undefined) all.push(mark.key);
      all.push(deadline, mark?.text ?? "", ...args);
    } else {
      all = [String(keys.length), ...keys, ...(name === "hold" ? [deadline] : []), ...args];
    }
    const reply = await this.#evaluate(name, all, isOnce);
    // Do not release the mark after an error: a client that gave a command up (`commandTimeout`) may
    // still send the command again.
    if (mark !== undefined) this.#marks!.release(mark);
    const words = String(reply).split(" ");
    if (learn !== undefined) {
      this.#learnedAt = sentAt;
      learn(timeOf(words));
    }
    if (words[2] === "late") throw this.#lateError(sentAt);
    if (words[2] === "held") throw new RedisConflictError();
    words.splice(0, 2);
    return words;
  }

  mayTakeOne(): boolean {
    return this.#options.wait === undefined && !this.#wantsTime();
  }

  async takeOne(
    key: string,
    line: TakeLine<PeriodicConfig>,
    now: number,
  ): Promise<Row | undefined> {
    const { port, shas } = this.#options;
    const sentAt = performance.now();
    const deadline = this.#deadlineText(this.clock.now() + LIFE);
    const sha = shas.get("takeOne")!;
    const words = takeOneWords(line, this.#nowText(now));
    const mark = this.#marks?.take();
    const command =
      mark === undefined
        ? ["EVALSHA", sha, "1", key, deadline, ...words]
        : ["EVALSHA", sha, "2", key, mark.key, `${deadline}.${mark.text}`, ...words];
    let reply: unknown;
    try {
      reply = await port.send(command, this.#routingKey);
    } catch (error) {
      if (!isNoScript(error)) throw error;
      reply = await this.send(["EVAL", SCRIPTS.takeOne, ...command.slice(2)]);
    }
    if (mark !== undefined) this.#marks!.release(mark);
    const word = String(reply);
    if (word === "late") throw this.#lateError(sentAt);
    return stateOf(word, line.fresh.ts);
  }

  async #evaluate(name: ScriptName, args: readonly string[], isWrite: boolean): Promise<unknown> {
    const { shas, wait } = this.#options;
    const carry = isWrite && wait !== undefined ? this.#sendAndWait : this.send;
    try {
      return await carry(["EVALSHA", shas.get(name)!, ...args]);
    } catch (error) {
      if (!isNoScript(error)) throw error;
      return carry(["EVAL", SCRIPTS[name], ...args]);
    }
  }

  readonly #sendAndWait = async (args: readonly string[]): Promise<unknown> => {
    const { port, wait } = this.#options;
    const { replicas, timeout } = wait!;
    const { reply, acknowledged } = await port.sendAndWait!(args, this.#routingKey, wait!);
    if (acknowledged >= replicas) return reply;
    throw new RedisStoreError(
      `only ${acknowledged} of ${replicas} replicas have acknowledged a write within ${timeout} ms; ` +
        "it is unknown whether it will be lost",
    );
  };

  #wantsTime(): boolean {
    return performance.now() - this.#learnedAt >= LEARN_AFTER;
  }

  #lateError(sentAt: number): Error {
    this.#learnedAt = -Infinity;
    // If the command was not on its way for long, this process was wrong about the server's time, and
    // learns the time anew.
    if (performance.now() - sentAt < LIFE) return new RedisConflictError();
    return new RedisLateError("the connection was lost for so long that the call came too late");
  }
}

/** @param reply begins with the seconds and the microseconds of TIME. */
function timeOf([seconds, micros]: readonly unknown[]): number {
  return Number(seconds) * 1000 + Number(micros) / 1000;
}

/**
 * The names by which Redis knows the scripts. Calculated without `node:crypto`, which some runtimes lack.
 */
export async function scriptShas(): Promise<Map<ScriptName, string>> {
  const shas = new Map<ScriptName, string>();
  for (const [name, text] of Object.entries(SCRIPTS)) {
    const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text));
    const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0"));
    shas.set(name as ScriptName, hex.join(""));
  }
  return shas;
}
