import { describe, expect, it } from "vitest";
import { takeTokens } from "../../../../../core/decide.js";
import type { Row } from "../../../../../core/rows/row.js";
import { Flights, WAITING_AFTER } from "../../../../../server/store/group-commit/flights.js";
import { createGroupCommit } from "../../../../../server/store/group-commit/group-commit.js";
import { SpentRows } from "../../../../../server/store/group-commit/spent-rows.js";
import { AloneWay } from "../../../../../server/store/group-commit/ways/alone.js";
import { type RowAccess, UnsentError } from "../../../../../server/store/row-access.js";
import { type Decision, rowKey, type Submission } from "../../../../../server/store/store.js";
import { createFakeDatabase, row } from "../../sql/fake-database.js";

const config = { kind: "token bucket", rate: 10, period: 1e9 } as const;

const fixedClock = () => 1e12;

function plainTake(key: string, count = 1, clock = fixedClock): Decision<string> {
  const granted = (next: Row) => `granted, ${10 - next.used} left`;
  return {
    rows: [row(key)],
    plain: { config, count, floor: 0, clock, granted },
    decide([state]) {
      const next = takeTokens(state ?? null, config, clock(), count, 0);
      return next ? { result: "decided", writes: [next] } : { result: "denied" };
    },
  };
}

/** @param before runs before each statement for one row. */
function open(before: () => void = () => {}) {
  const seen: string[] = [];
  const { access, rows, takeElsewhere } = createFakeDatabase({
    hasLocks: true,
    async take(lines) {
      seen.push(`${lines.length} lines`);
      return new Map();
    },
  });
  const takeOne: RowAccess["takeOne"] = async (line, { now, isWanted }) => {
    seen.push(line.row.key);
    if (!isWanted()) throw new UnsentError();
    before();
    const { terms, total } = line;
    const state = rows.get(rowKey(line.row)) ?? null;
    const next = takeTokens(state, terms.config, now, total, terms.floor);
    if (next !== undefined) rows.set(rowKey(line.row), next);
    return next;
  };
  const store = createGroupCommit({ ...access, takeOne });
  return { store, seen, rows, takeElsewhere };
}

/** A call that is answered by `answers`, and the way that it goes when it is alone. */
function openWay(takeOne: RowAccess["takeOne"]) {
  const { access } = createFakeDatabase({ hasLocks: true });
  const way = new AloneWay({ ...access, takeOne }, new SpentRows());
  const answers: unknown[] = [];
  const call: Submission<unknown> = {
    decision: plainTake("a"),
    expired: false,
    resolve: (answer) => void answers.push(answer),
    reject: (error) => void answers.push(error),
  };
  return { way, call, answers };
}

describe("the take of a call that is alone", () => {
  it.each([false, true])(
    "waits for a row that is held, unless it is hurried: %s",
    async (isHurried) => {
      const waits: boolean[] = [];
      const { way, call, answers } = openWay(async ({ fresh }, { mayWait }) => {
        waits.push(mayWait);
        return fresh;
      });
      const take = way.begin(call)!;
      const outcome = await way.carryOut(take, isHurried);
      expect(waits).toEqual([!isHurried]);
      expect(outcome).toMatchObject({ again: [], conflicts: 0, failed: false });
      expect(answers).toEqual([]);
      outcome.answer();
      expect(answers).toEqual(["granted, 9 left"]);
    },
  );

  it("is in flight beside one that has stalled, and no other call joins it", () => {
    const { way, call } = openWay(undefined);
    const flights = new Flights({ maxInFlight: 2, serializable: false });
    const [stalled, next] = [way.begin(call)!, way.begin(call)!];
    flights.start(stalled, 0);
    flights.look(WAITING_AFTER);
    flights.start(next, WAITING_AFTER);
    expect([stalled.place, next.place]).toEqual(["stalled", "in flight"]);
    expect(next.way.join(next, call, way, 256)).toBe(false);
  });
});

describe("a call that is alone", () => {
  it("is one statement for one row", async () => {
    const { store, seen, rows } = open();
    expect(await store.apply([plainTake("a", 3)])).toEqual(["granted, 7 left"]);
    expect(await store.apply([plainTake("a", 3)])).toEqual(["granted, 4 left"]);
    expect(seen).toEqual(["a", "a"]);
    expect(rows.get(rowKey(row("a")))!.used).toBe(6);
  });

  it("is decided where the statement takes nothing, because others have taken all", async () => {
    const { store, seen, rows } = open();
    rows.set(rowKey(row("a")), { used: 10, ts: 1e12 });
    expect(await store.apply([plainTake("a")])).toEqual(["denied"]);
    expect(seen).toEqual(["a"]);
  });

  it("is decided at once where the statement before it has taken the last token", async () => {
    const { store, seen } = open();
    await store.apply([plainTake("a", 10)]);
    seen.length = 0;
    expect(await store.apply([plainTake("a")])).toEqual(["denied"]);
    expect(await store.apply([plainTake("a")])).toEqual(["denied"]);
    // The first statement has said that no token is left.
    expect(seen).toEqual([]);
  });

  it("goes with the others if another call comes in the same tick", async () => {
    const { store, seen } = open();
    await Promise.all([store.apply([plainTake("a")]), store.apply([plainTake("b")])]);
    expect(seen).toEqual(["2 lines"]);
  });

  it("goes with those that wait if it comes while another one is in flight", async () => {
    let release = () => {};
    const { access } = createFakeDatabase({ hasLocks: true });
    const sent: string[] = [];
    const store = createGroupCommit({
      ...access,
      takeOne: (line) => {
        sent.push(line.row.key);
        return new Promise((resolve) => (release = () => resolve(line.fresh)));
      },
    });
    const first = store.apply([plainTake("a")]);
    await new Promise((resolve) => setImmediate(resolve));
    const second = store.apply([plainTake("a")]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(sent).toEqual(["a"]);
    release();
    expect(await first).toEqual(["granted, 9 left"]);
    expect(await second).toEqual(["decided"]);
  });

  it("is told of an error of the database, and takes the next one as before", async () => {
    let fails = true;
    const { store } = open(() => {
      if (fails) throw new Error("gone");
    });
    await expect(store.apply([plainTake("a")])).rejects.toThrow("gone");
    fails = false;
    expect(await store.apply([plainTake("a")])).toEqual(["granted, 9 left"]);
  });

  it("takes nothing if it has timed out before it is sent", async () => {
    const { store, rows } = open();
    const call: Submission<unknown> & { error?: unknown; expired: boolean } = {
      decision: plainTake("a"),
      expired: false,
      resolve() {},
      reject: (error) => void (call.error = error),
    };
    store.submit(call);
    call.expired = true;
    await new Promise((resolve) => setImmediate(resolve));
    expect(String(call.error)).toContain("timed out");
    expect(rows.size).toBe(0);
  });

  it("is decided if its clock tells no time", async () => {
    const { store, seen, rows } = open();
    rows.set(rowKey(row("a")), { used: 0, ts: 1e12 });
    expect(await store.apply([plainTake("a", 1, () => NaN)])).toEqual(["denied"]);
    expect(seen).toEqual([]);
  });
});
