import { expect, it, vi } from "vitest";
import { CLOCK_COLUMN, createDatabaseClock } from "../../server/store/sql/database-clock.js";

/** The database's clock, which is an hour ahead of this machine's. */
const AHEAD = 3_600_000;

function setUp() {
  let monotonic = 0;
  let database = Date.now() + AHEAD;
  const clock = createDatabaseClock(() => monotonic);
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
      await clock.query(async (withClock) => {
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
  expect(error()).toBe(0);
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

it("keeps the reading with the shortest round trip, as long as it is the best", async () => {
  const { pass, send, error } = setUp();
  await send(1, 1);
  pass(5000);
  // All of the round trip is the way back, so this reading alone would be 50 ms off.
  await send(0, 100);
  expect(error()).toBe(0);
  // By now, the first reading may have drifted further than that.
  pass(200_000);
  await send(0, 100);
  expect(error()).toBe(-50);
});

it("follows a database that sets its clock", async () => {
  const { pass, send, set, error } = setUp();
  await send(1, 1);
  set(-10_000);
  pass(5000);
  await send(20, 20);
  expect(error()).toBe(0);
});

it("does not follow this machine's clock, and asks again when that has jumped", async () => {
  const { send, error } = setUp();
  await send(1, 1);
  const now = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 7 * AHEAD);
  try {
    expect(error()).toBe(0);
    expect(await send(1, 1)).toBe(true);
    expect(error()).toBe(0);
  } finally {
    now.mockRestore();
  }
});
