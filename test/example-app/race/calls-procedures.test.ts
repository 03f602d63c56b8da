/**
 * Races for visitors who arrive: their number is bounded for the server, however many visitors there are.
 */
import { initTRPC } from "@trpc/server";
import { beforeEach, expect, it, vi } from "vitest";
import { isRateLimitError } from "trpc-rate-limit";
import { createRateLimiter, memoryStore } from "trpc-rate-limit/server";
import { createRateLimitTRPC } from "trpc-rate-limit/trpc";
import { callsProcedures } from "../../../example-app/race/calls-procedures.js";
import { FRESH } from "../../../example-app/race/limits.js";
import type { Race } from "../../../example-app/race/result.js";
import { PLANS } from "../../../example-app/model/limits.js";
import { LIMITS } from "../../../example-app/shared/server/limiter.js";
import type { Context } from "../../../example-app/shared/server/trpc.js";

const NOTHING = { processes: [], granted: 0, ms: 0, taken: 0 };
const race: Race = { naive: NOTHING, package: NOTHING };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  return () => vi.useRealTimers();
});

function start(run: () => Promise<Race>) {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: LIMITS,
    plans: PLANS,
    plan: () => "free",
    clock: Date.now,
  });
  const t = initTRPC.context<Context>().create();
  const rl = createRateLimitTRPC({ t, limiter, key: ({ ctx }) => ctx.visitor });
  const router = t.router(callsProcedures({ t, rl, limiter }, run));
  const visitor = (name: string) => router.createCaller({ visitor: name, process: 1 });
  return { limiter, visitor };
}

it("starts one race for a hundred visitors, and another one for those of the next seconds", async () => {
  const run = vi.fn(async () => ({ ...race }));
  const { visitor, limiter } = start(run);
  const arrive = (name: string) => visitor(name).arrival();
  const seen = await Promise.all(Array.from({ length: 100 }, (_, i) => arrive(`visitor ${i}`)));
  expect(new Set(seen).size).toBe(1);
  vi.setSystemTime(Date.now() + FRESH - 1);
  expect(await arrive("late")).toBe(seen[0]);
  expect(run).toHaveBeenCalledOnce();
  vi.setSystemTime(Date.now() + 1);
  expect(await arrive("later")).not.toBe(seen[0]);
  expect(run).toHaveBeenCalledTimes(2);
  // None of them has used a race of its own.
  expect((await limiter.getValue("runRace", { key: "late" })).value).toBe(5);
});

it("has the last race that is over for those who arrive, at once", async () => {
  const finish: ((result: Race) => void)[] = [];
  const { visitor } = start(() => new Promise((resolve) => void finish.push(resolve)));
  const isOn = (count: number) => vi.waitFor(() => expect(finish).toHaveLength(count));
  expect(await visitor("ada").last()).toBeNull();
  const first = visitor("ada").arrival();
  await isOn(1);
  finish[0]!(race);
  expect(await first).toBe(race);

  vi.setSystemTime(Date.now() + FRESH);
  const second = visitor("bob").arrival();
  await isOn(2);
  expect(await visitor("bob").last()).toBe(race);
  const other = { ...race };
  finish[1]!(other);
  expect(await second).toBe(other);
  expect(await visitor("bob").last()).toBe(other);
});

it("keeps no race that failed, and bounds how often another one is tried", async () => {
  const run = vi.fn(async (): Promise<Race> => {
    throw new Error("the database is gone");
  });
  const { visitor } = start(run);
  const errors: unknown[] = [];
  for (let i = 0; i < 20; i++)
    await visitor("ada")
      .arrival()
      .catch((error) => errors.push(error));
  expect(run).toHaveBeenCalledTimes(LIMITS.arrivalRace.capacity);
  expect(isRateLimitError(errors[9])).toBe(false);
  expect((errors[19] as Error).cause).toSatisfy(isRateLimitError);
});

it("lets a visitor start five, and the arrivals do not count", async () => {
  const { visitor } = start(async () => race);
  const ada = visitor("ada");
  await ada.arrival();
  for (let i = 0; i < 5; i++) await ada.run({ tick: "same" });
  await expect(ada.run({ tick: "same" })).rejects.toSatisfy(isRateLimitError);
  await visitor("bob").run({ tick: "same" });
});
