/** Many requests at a time, each with its own limiter, on D1 and in a Durable Object. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { emptyTable } from "./d1-database.js";
import { hasWorkerd, NO_WORKERD, startWorker, type StartedWorker } from "./start-worker.js";

let worker: StartedWorker;
beforeAll(async () => {
  if (!hasWorkerd) return;
  worker = await startWorker(new URL("limits-worker.ts", import.meta.url), {
    d1Databases: ["DB"],
    durableObjects: { LIMITS: { className: "Limits", useSQLite: true } },
  });
});
afterAll(() => worker?.[Symbol.asyncDispose]());

async function ask<TResult>(path: string, body?: string): Promise<TResult> {
  const response = await worker.fetch(path, body === undefined ? {} : { method: "POST", body });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return JSON.parse(text || "null") as TResult;
}

const granted = (answers: readonly boolean[]) => answers.filter(Boolean).length;
const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i));

const ROUNDS = 10;
/** Calls on several rows have no group commit here, and conflict with each other on D1. */
const ROUNDS_OF_ALL = 3;

describe.skipIf(!hasWorkerd)(`requests to a worker${hasWorkerd ? "" : `: ${NO_WORKERD}`}`, () => {
  describe.each(["d1", "durable"])("with limits in %s", (kind) => {
    beforeEach(async () => {
      if (kind === "d1") await emptyTable(await worker.d1("DB"));
      else await ask("durable/sql", 'DROP TABLE IF EXISTS "RateLimit"');
    });

    it("are granted exactly 37 of 60 times on a limit of 37", async () => {
      for (const round of times(ROUNDS, String)) {
        const path = `${kind}/limit?key=${round}`;
        expect(granted(await Promise.all(times(60, () => ask<boolean>(path))))).toBe(37);
        expect(await ask(`${kind}/value?key=${round}`)).toBe(0);
      }
    });

    it("are granted exactly 37 times for each of several keys", async () => {
      const keys = ["a", "b", "c"];
      const answers = await Promise.all(
        times(180, (i) => ask<boolean>(`${kind}/limit?key=${keys[i % 3]}`)),
      );
      for (const [i] of keys.entries()) {
        expect(granted(answers.filter((_, at) => at % 3 === i))).toBe(37);
      }
    });

    it("charge two limits together or not at all", async () => {
      for (const round of times(ROUNDS_OF_ALL, String)) {
        const path = `${kind}/limitAll?key=${round}`;
        expect(granted(await Promise.all(times(60, () => ask<boolean>(path))))).toBe(23);
        expect(await ask(`${kind}/value?key=${round}`)).toBe(14);
        expect(await ask(`${kind}/value?name=fewer&key=${round}`)).toBe(0);
      }
    });

    it("charge what they settle, and no more than the limit at any time", async () => {
      const answers = await Promise.all(times(60, () => ask<boolean>(`${kind}/settle?key=a`)));
      const passed = granted(answers);
      expect(passed).toBeGreaterThanOrEqual(10);
      expect(passed).toBeLessThanOrEqual(31);
      expect(await ask(`${kind}/value?name=tokens&key=a`)).toBe(100 - 3 * passed);
    });
  });
});
