/**
 * Runs the scripts on one server, or on the master of one tag. It learns the time of that server
 * from every reply.
 */
import type { DatabaseClock } from "../store/sql/table/database-clock.js";
import { type Mark, Marks } from "./marks.js";
import { isNoScript, RedisConflictError, RedisLateError, RedisStoreError } from "./redis-errors.js";
import type { RedisPort } from "./redis-port.js";
import { type ScriptName, SCRIPTS } from "./scripts.js";
import type { Tags } from "./tags.js";

/** How long a command may be on its way, ms, before Redis refuses it. */
export const LIFE = 10_000;
/** How old what is known of the time may get, ms. Every reply has it, but few are read for it. */
const LEARN_AFTER = 500;

/** For how many replicas `redisStore` waits after a write, and for how long. */
export interface WaitOptions {
  /** How many replicas have to have a write before its calls are answered; 1 or more. */
  replicas: number;
  /** How long to wait for them, ms. Calls are rejected after that. */
  timeout: number;
}

export interface ScriptRunner {
  readonly clock: DatabaseClock;
  /** Learns the time of the server. */
  readTime(): Promise<void>;
  /** The words of the reply. Rejects with a `RedisConflictError` if nothing was carried out. */
  run(name: ScriptName, keys: readonly string[], args: readonly string[]): Promise<string[]>;
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
  const { port, tags, place, clock, shas, wait } = options;
  const routingKey = tags.ownKey(place, "");
  const marks = port.resends ? new Marks() : undefined;
  const send = (args: readonly string[]) => port.send(args, routingKey);

  /** When the command was sent whose reply has told the time last, by the monotonic clock. */
  let learnedAt = -Infinity;

  async function evaluate(name: ScriptName, args: readonly string[], isWrite: boolean) {
    const carry = isWrite && wait !== undefined ? sendAndWait : send;
    try {
      return await carry(["EVALSHA", shas.get(name)!, ...args]);
    } catch (error) {
      if (!isNoScript(error)) throw error;
      return carry(["EVAL", SCRIPTS[name], ...args]);
    }
  }

  async function sendAndWait(args: readonly string[]): Promise<unknown> {
    const { replicas, timeout } = wait!;
    const { reply, acknowledged } = await port.sendAndWait!(args, routingKey, wait!);
    if (acknowledged >= replicas) return reply;
    throw new RedisStoreError(
      `only ${acknowledged} of ${replicas} replicas have acknowledged a write within ${timeout} ms; ` +
        "it is unknown whether it will be lost",
    );
  }

  async function run(name: ScriptName, keys: readonly string[], args: readonly string[]) {
    const isOnce = name === "take" || name === "write";
    let mark: Mark | undefined;
    let all: string[];
    const sentAt = performance.now();
    const learn = sentAt - learnedAt >= LEARN_AFTER ? clock.begin() : undefined;
    const deadline = String(clock.now() + LIFE);
    if (isOnce) {
      mark = marks?.take();
      const count = keys.length + (mark === undefined ? 0 : 1);
      all = [String(count), ...keys];
      if (mark !== undefined) all.push(tags.ownKey(place, mark.name));
      all.push(deadline, mark?.text ?? "", ...args);
    } else {
      all = [String(keys.length), ...keys, ...(name === "hold" ? [deadline] : []), ...args];
    }
    const reply = await evaluate(name, all, isOnce);
    // Not after an error: a client that gave a command up (`commandTimeout`) may still send it again.
    mark?.free();
    const words = String(reply).split(" ");
    if (learn !== undefined) {
      learnedAt = sentAt;
      learn(timeOf(words));
    }
    if (words[2] === "late") {
      learnedAt = -Infinity;
      // If it was not on its way for long, this process was wrong about the time, and is not now.
      if (performance.now() - sentAt < LIFE) throw new RedisConflictError();
      throw new RedisLateError("the connection was lost for so long that the call came too late");
    }
    if (words[2] === "held") throw new RedisConflictError();
    words.splice(0, 2);
    return words;
  }

  return {
    clock,
    run,
    send,
    async readTime() {
      const learn = clock.begin();
      learn(timeOf((await send(["TIME"])) as unknown[]));
    },
  };
}

/** @param reply begins with the seconds and the microseconds of TIME. */
function timeOf([seconds, micros]: readonly unknown[]): number {
  return Number(seconds) * 1000 + Number(micros) / 1000;
}

/** The names by which Redis knows the scripts. Without `node:crypto`, so that it runs anywhere. */
export async function scriptShas(): Promise<Map<ScriptName, string>> {
  const shas = new Map<ScriptName, string>();
  for (const [name, text] of Object.entries(SCRIPTS)) {
    const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text));
    const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0"));
    shas.set(name as ScriptName, hex.join(""));
  }
  return shas;
}
