/** The race among racers in one process, on sound stores and on broken ones. */
import { describe, expect, it } from "vitest";
import { answerPlan, bucketsOf } from "../../../cli/verify/racer.js";
import type { Racer } from "../../../cli/verify/round.js";
import { runRace } from "../../../cli/verify/run-race.js";
import { memoryStore, type RateLimitStore } from "../../../server/index.js";
import * as broken from "../../histories/broken-stores.js";

/** A racer whose answers are lost once it is killed, as those of a process are. */
function racerOn(store: RateLimitStore): Racer {
  const { take } = bucketsOf(store);
  let end: () => void;
  let isKilled = false;
  const killed = new Promise<void>((resolve) => (end = resolve));
  return {
    async run(plan, onAnswer) {
      const never = new Promise<void>(() => {});
      const answered = answerPlan(take, plan, (answer) => {
        // A killed process makes no more calls.
        if (isKilled) return never;
        onAnswer(answer);
      });
      await Promise.race([answered, killed]);
    },
    async kill() {
      isKilled = true;
      end();
    },
  };
}

const race = (store: RateLimitStore, signal = new AbortController().signal) =>
  runRace({
    startRacer: async () => racerOn(store),
    valueOf: bucketsOf(store).valueOf,
    onResult() {},
    signal,
  });

describe("the race of verify", () => {
  it("grants exactly what there is on a sound store, and never more after a kill", async () => {
    const results = await race(memoryStore() as RateLimitStore);
    expect(results.flatMap(({ problems }) => problems)).toEqual([]);
    expect(results.map(({ kind, keys, isKilled }) => [kind, keys, isKilled])).toEqual(
      ["token bucket", "fixed window"].flatMap((kind) =>
        [1, 16].flatMap((keys) => [false, true].map((isKilled) => [kind, keys, isKilled])),
      ),
    );
    for (const { granted, tokens, lost, isKilled } of results) {
      expect(granted + lost).toBe(tokens);
      if (!isKilled) expect(lost).toBe(0);
    }
  });

  it.each([
    ["reads and then writes without a guard", broken.unguardedStore, /of \d+ tokens of a key were/],
    ["loses writes", broken.lossyStore, /of \d+ tokens of a key were granted/],
    ["applies writes twice", broken.duplicatingStore, /only \d+ of \d+ tokens were granted/],
  ])("finds a store that %s", async (_, makeStore, problem) => {
    const results = await race(makeStore());
    const found = results.filter(({ isKilled }) => !isKilled).map(({ problems }) => problems);
    for (const problems of found) expect(problems.join("\n")).toMatch(problem);
  });

  it("ends after a failure when the database has gone away", async () => {
    const store = broken.unguardedStore();
    const running = runRace({
      startRacer: async () => racerOn(store),
      valueOf: bucketsOf(store).valueOf,
      onResult() {},
      onFailure: () => Promise.reject(new Error("gone")),
      signal: new AbortController().signal,
    });
    await expect(running).rejects.toThrow("gone");
  });

  it("finds a store that fails", async () => {
    const store = memoryStore() as RateLimitStore;
    const { apply } = store;
    let calls = 0;
    const failing = {
      ...store,
      submit: undefined,
      apply: (async (...args: Parameters<typeof apply>) => {
        if (++calls === 7) throw new Error("connection lost");
        return apply(...args);
      }) as typeof apply,
    } as unknown as RateLimitStore;
    const [first] = await race(failing);
    expect(first!.problems).toEqual([expect.stringMatching(/^a call has failed: /)]);
  });

  it("ends all racers when one cannot start, or when it is told to stop", async () => {
    const store = memoryStore() as RateLimitStore;
    const open = new Set<Racer>();
    const start = async () => {
      const racer = racerOn(store);
      open.add(racer);
      const { kill } = racer;
      return Object.assign(racer, { kill: () => (open.delete(racer), kill()) });
    };
    let starts = 0;
    const rest = { valueOf: bucketsOf(store).valueOf, signal: new AbortController().signal };
    const startRacer = async () => {
      if (++starts === 2) throw new Error("too many connections");
      return start();
    };
    await expect(runRace({ ...rest, startRacer, onResult() {} })).rejects.toThrow("too many");
    expect(open.size).toBe(0);

    const controller = new AbortController();
    const onResult = () => controller.abort(new Error("stopped"));
    const stopped = runRace({ ...rest, startRacer: start, onResult, signal: controller.signal });
    await expect(stopped).rejects.toThrow("stopped");
    expect(open.size).toBe(0);
  });
});
