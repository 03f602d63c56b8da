import type { SqlRow } from "../../../../../server/store/sql/driver.js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  CLOCK_COLUMN,
  DatabaseClock,
} from "../../../../../server/store/sql/table/database-clock.js";

/** The database's clock, which is an hour ahead of this machine's. */
const AHEAD = 3_600_000;
const T = Date.UTC(2030, 0, 1);

/** Sends a statement, as the dialects do. */
async function query(
  clock: DatabaseClock,
  run: (withClock: boolean) => SqlRow[] | Promise<SqlRow[]>,
): Promise<void> {
  const learn = clock.due();
  const rows = await run(learn !== undefined);
  learn?.(rows);
}

function setUp() {
  let monotonic = 0;
  let database = Date.now() + AHEAD;
  const clock = new DatabaseClock({ now: () => monotonic });
  const pass = (ms: number) => {
    monotonic += ms;
    database += ms;
  };
  return {
    clock,
    pass,
    /** Sets the database's clock. */
    set: (ms: number) => (database += ms),
    /** How far the known time is from the database's, ms. */
    error: () => clock.now() - database,
    /** Sends a statement. Returns whether it read the clock. */
    async send(there: number, back: number, isEmpty = false): Promise<boolean> {
      let hasRead = false;
      await query(clock, (withClock) => {
        hasRead = withClock;
        pass(there);
        const row = { name: "n", ...(withClock && { [CLOCK_COLUMN]: String(database) }) };
        pass(back);
        return isEmpty ? [] : [row];
      });
      return hasRead;
    },
  };
}

it("is this machine's clock before the first reading, and then the database's", async () => {
  const { clock, send, error } = setUp();
  expect(clock.isKnown).toBe(false);
  expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1000);
  await send(10, 10);
  expect(clock.isKnown).toBe(true);
  expect(Math.abs(error())).toBeLessThanOrEqual(11);
});

it("says by how much it may be behind or ahead, however wrong this machine is and however old the reading", async () => {
  const { clock, error, pass, send } = setUp();
  expect(clock.behind()).toBe(0);
  expect(clock.ahead()).toBe(0);
  for (const [there, back] of [
    [0, 80],
    [80, 0],
    [3, 1],
  ] as const) {
    await send(there, back);
    for (const later of [0, 10_000]) {
      pass(later);
      expect(-error()).toBeLessThanOrEqual(clock.behind());
      expect(error()).toBeLessThanOrEqual(clock.ahead());
    }
    // A longer reading afterwards would tell less.
    expect(clock.behind()).toBeLessThan(there + back + 10);
    expect(clock.ahead()).toBeLessThan(there + back + 10);
  }
});

it("is read again after a statement without rows, and after five seconds", async () => {
  const { pass, send } = setUp();
  expect(await send(1, 1, true)).toBe(true);
  expect(await send(1, 1)).toBe(true);
  expect(await send(1, 1)).toBe(false);
  pass(5000);
  expect(await send(1, 1)).toBe(true);
  expect(await send(1, 1)).toBe(false);
});

it("gets no worse by a slow round trip, and better by a quick one", async () => {
  const { pass, send, error } = setUp();
  await send(0, 100);
  expect(Math.abs(error())).toBeLessThanOrEqual(101);
  pass(5000);
  await send(1, 0);
  expect(Math.abs(error())).toBeLessThanOrEqual(2);
  pass(5000);
  await send(0, 100);
  expect(Math.abs(error())).toBeLessThanOrEqual(5);
});

it("follows a database that sets its clock", async () => {
  const { pass, send, set, error } = setUp();
  await send(1, 1);
  set(-10_000);
  pass(5000);
  await send(20, 20);
  expect(Math.abs(error())).toBeLessThanOrEqual(21);
});

it("is this machine's clock where the readings allow it, so that it does not waver", async () => {
  const now = vi.spyOn(Date, "now").mockReturnValue(T);
  onTestFinished(() => now.mockRestore());
  let monotonic = 0;
  const clock = new DatabaseClock({ now: () => monotonic });
  for (const [there, back] of [
    [0, 80],
    [80, 0],
    [3, 4],
  ] as const) {
    const sentAt = monotonic;
    await query(clock, (withClock) => {
      const row = withClock && { [CLOCK_COLUMN]: T + sentAt + there };
      monotonic += there + back;
      now.mockReturnValue(T + monotonic);
      return row ? [row] : [];
    });
    expect(clock.now()).toBe(T + monotonic);
    monotonic += 6000;
    now.mockReturnValue(T + monotonic);
    expect(clock.now()).toBe(T + monotonic);
  }
});

it("does not follow this machine's clock, and asks again when that has jumped", async () => {
  const { send, error } = setUp();
  await send(1, 1);
  const before = error();
  const now = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 7 * AHEAD);
  onTestFinished(() => now.mockRestore());
  expect(error()).toBe(before);
  expect(await send(1, 1)).toBe(true);
  expect(Math.abs(error())).toBeLessThanOrEqual(3);
});

describe("after a suspension, in which the monotonic clock stood still,", () => {
  /** Time passes for the database and for this machine's clock. */
  function suspend(ms: number, set: (ms: number) => number) {
    const now = vi.spyOn(Date, "now").mockReturnValue(Date.now() + ms);
    onTestFinished(() => now.mockRestore());
    set(ms);
  }

  it("is in doubt until it was read", async () => {
    const { clock, send, set, error } = setUp();
    expect(clock.isInDoubt()).toBe(false);
    await send(1, 1);
    expect(clock.isInDoubt()).toBe(false);
    suspend(AHEAD, set);
    expect(clock.isInDoubt()).toBe(true);
    await send(1, 1, true);
    expect(clock.isInDoubt()).toBe(true);
    expect(await send(1, 1)).toBe(true);
    expect(clock.isInDoubt()).toBe(false);
    expect(Math.abs(error())).toBeLessThanOrEqual(3);
  });

  it("stays in doubt if the machine slept while the answer was under way", async () => {
    const { clock, pass, send, set, error } = setUp();
    await send(1, 1);
    pass(5000);
    await query(clock, () => {
      const before = Date.now() + AHEAD;
      suspend(AHEAD, set);
      return [{ [CLOCK_COLUMN]: before }];
    });
    expect(clock.isInDoubt()).toBe(true);
    await send(1, 1);
    expect(clock.isInDoubt()).toBe(false);
    expect(Math.abs(error())).toBeLessThanOrEqual(3);
  });

  it("stays in doubt if the statement that would read it fails", async () => {
    const { clock, send, set } = setUp();
    await send(1, 1);
    suspend(AHEAD, set);
    const failed = query(clock, () => Promise.reject(new Error("no answer")));
    await expect(failed).rejects.toThrow("no answer");
    expect(clock.isInDoubt()).toBe(true);
    expect(await send(1, 1)).toBe(true);
    expect(clock.isInDoubt()).toBe(false);
  });
});
