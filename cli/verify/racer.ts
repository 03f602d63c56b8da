/** A racer in a process of its own: the child of `verify`, and what `verify` knows of it. */
import { fork } from "node:child_process";
import { once } from "node:events";
import type { RateLimitConfig } from "../../core/limit-config.js";
import { createRateLimiter, type RateLimitStore } from "../../server/index.js";
import { CliError } from "../cli-error.js";
import { messageOf } from "../doctor/finding.js";
import { type Answer, type Racer, type RoundPlan, WIDTH } from "./round.js";
import { openPlace, type Place } from "./open-place.js";
import { RACER } from "./verify-options.js";

/** To a child: first the place, and then a plan per round. */
type ToChild = { place: Place } | { plan: RoundPlan };
/** From a child: that it has connected, each answer, the end of a round, or why it cannot connect. */
type FromChild = "ready" | "done" | Answer | { failure: string };

/** How long a call may take, ms: longer than a database needs that is shared with others. */
const TIMEOUT = 10_000;

/**
 * @param program the file of `cli/main.ts`.
 * @param signal ends the process at once.
 */
export async function startRacer(
  program: string,
  place: Place,
  signal: AbortSignal,
): Promise<Racer> {
  const child = fork(program, [RACER], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    signal,
    killSignal: "SIGKILL",
  });
  // `signal` is reported as an error.
  child.on("error", () => {});
  const exited = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  let isKilled = false;
  const send = (message: ToChild) => child.send(message, () => {});
  /** Passes messages on until one of them resolves. */
  async function listen(receive: (message: FromChild) => boolean): Promise<void> {
    let listener: ((message: FromChild) => void) | undefined;
    const received = new Promise<"received">((resolve, reject) => {
      listener = (message) => {
        if (typeof message === "object" && "failure" in message) {
          reject(new CliError(`a process of the race cannot connect: ${message.failure}`));
        } else if (receive(message)) resolve("received");
      };
      child.on("message", listener);
    });
    const ended = exited.then(() => "ended" as const);
    const end = await Promise.race([received, ended]);
    child.off("message", listener!);
    if (end === "ended" && !isKilled) throw new Error("a process of the race has ended by itself");
  }
  async function kill(): Promise<void> {
    isKilled = true;
    child.kill("SIGKILL");
    await exited;
  }
  try {
    // The URL goes by this channel: other users of the machine see arguments.
    send({ place });
    await listen((message) => message === "ready");
  } catch (error) {
    await kill();
    throw error;
  }
  return {
    async run(plan, onAnswer) {
      send({ plan });
      await listen((message) => {
        if (message === "done") return true;
        if (typeof message === "object" && "key" in message) onAnswer(message);
        return false;
      });
    },
    kill,
  };
}

/** Runs in the child, until its parent ends. */
export async function runRacer(): Promise<void> {
  /** Resolves when the parent can read the message, even if this process is killed then. */
  const send = (message: FromChild) =>
    new Promise<void>((resolve) => process.send!(message, undefined, undefined, () => resolve()));
  let answer: ((plan: RoundPlan) => Promise<void>) | undefined;
  process.on("message", (message: ToChild) => {
    const work = "place" in message ? open(message.place) : answer!(message.plan);
    work.then(
      () => send("place" in message ? "ready" : "done"),
      (error: unknown) => send({ failure: messageOf(error) }),
    );
  });
  // Ctrl-C reaches all processes of a terminal. The parent decides when this one ends.
  process.on("SIGINT", () => {});
  await once(process, "disconnect");
  process.exit();

  async function open(place: Place): Promise<void> {
    const { target } = place;
    // A message has no methods.
    if (target.kind === "sql") target.url.params = new URL(target.url.url).searchParams;
    const { openStore } = await openPlace(place);
    const { take } = bucketsOf(openStore());
    answer = (plan) => answerPlan(take, plan, send);
  }
}

interface Buckets {
  take(key: string, config: RateLimitConfig): Promise<{ ok: boolean }>;
  /** How many tokens are left. */
  valueOf(key: string, config: RateLimitConfig): Promise<number>;
}

export function bucketsOf(store: RateLimitStore): Buckets {
  // A failed call is a part of the report. The log would name the host.
  const limiter = createRateLimiter({ store, limits: {}, timeout: TIMEOUT, logger: false });
  return {
    take: (key, config) => limiter.limit("race", { key, config }),
    valueOf: async (key, config) => (await limiter.getValue("race", { key, config })).value,
  };
}

/** Makes the calls of a racer in a round, some of them at a time. */
export async function answerPlan(
  take: Buckets["take"],
  { config, keys, calls }: RoundPlan,
  onAnswer: (answer: Answer) => void | Promise<void>,
): Promise<void> {
  let next = 0;
  async function callOn(): Promise<void> {
    while (next < calls) {
      const key = keys[next++ % keys.length]!;
      const started = performance.now();
      const result = await take(key, config).then(
        ({ ok }) => ({ ok }),
        (error: unknown) => ({ error: messageOf(error) }),
      );
      await onAnswer({ key, ...result, ms: performance.now() - started });
    }
  }
  await Promise.all(Array.from({ length: WIDTH }, callOn));
}
