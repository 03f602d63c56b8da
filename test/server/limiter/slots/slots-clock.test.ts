/** Processes know the clock of their database only within bounds. A slot still has one holder. */
import { expect, it } from "vitest";
import { createRateLimiter, memoryStore } from "../../../../server/index.js";

const TTL = 1000;
const limits = { work: { kind: "concurrency", slots: 1, ttl: TTL } } as const;

/** Each process is wrong about the time by `error`, ms, and knows by how much it may be. */
function setUp() {
  const store = memoryStore();
  const time = { now: Date.UTC(2030, 0, 1) };
  const start = (error: number, ahead: number, behind: number) =>
    createRateLimiter({
      limits,
      store: {
        ...store,
        clock: () => time.now + error,
        clockAhead: () => ahead,
        clockBehind: () => behind,
      },
    });
  return { time, start };
}

it("lets no process take a slot whose clock may be ahead, before the ttl has passed", async () => {
  const { time, start } = setUp();
  const [exact, ahead] = [start(0, 0, 0), start(700, 700, 0)];
  const held = await exact.enter("work");
  expect(held.ok).toBe(true);
  time.now += TTL - 1;
  expect(await ahead.enter("work")).toMatchObject({ ok: false });
  time.now += 2;
  expect(await ahead.enter("work")).toMatchObject({ ok: true });
});

it("grants no slot for longer than its row says, though the process may be behind", async () => {
  const { start } = setUp();
  const behind = start(-TTL, 0, TTL);
  await expect(behind.enter("work")).rejects.toThrow("after the ttl of a slot");
  expect(await start(0, 0, 0).enter("work")).toMatchObject({ ok: true });
});
