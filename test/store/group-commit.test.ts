import { afterEach, describe, expect, it, vi } from "vitest";
import type { RateLimitState } from "../../core/calculate.js";
import { takeTokens } from "../../core/decide.js";
import { createGroupCommit } from "../../server/store/group-commit/group-commit.js";
import type { RowAccess, RowStatements, WriteOutcomes } from "../../server/store/row-access.js";
import { type Decision, type PlainTake, type RowId, rowKey } from "../../server/store/store.js";

const row = (key: string): RowId => ({ name: "group commit", key, shard: 0 });

/** Takes 1; the result is what was there before. */
const take = (...ids: RowId[]): Decision<number[]> => ({
  rows: ids,
  decide(states) {
    const values = states.map((state) => state?.value ?? 100);
    const ts = Math.max(...states.map((state) => state?.ts ?? 0)) + 1;
    return { result: values, writes: values.map((value) => ({ value: value - 1, ts })) };
  },
});

/** A database in memory that does what the test says before it writes. */
function database(options: {
  beforeWrite?: () => Promise<void> | void;
  beforeRead?: () => Promise<void> | void;
  hasLocks?: boolean;
  take?: RowAccess["take"];
}) {
  const rows = new Map<string, RateLimitState>();
  const trips = { reads: 0, writes: 0, locked: 0 };
  const holds = (id: string, was: RateLimitState | null) => {
    const state = rows.get(id) ?? null;
    return state?.value === was?.value && state?.ts === was?.ts;
  };
  const read: RowStatements["read"] = async (wanted) => {
    trips.reads++;
    await options.beforeRead?.();
    return new Map(
      wanted.flatMap((id) => {
        const state = rows.get(rowKey(id));
        return state === undefined ? [] : [[rowKey(id), state] as const];
      }),
    );
  };
  const write: RowStatements["write"] = async (groups) => {
    const outcomes: WriteOutcomes = new Map();
    for (const group of groups) {
      if (!group.writes.every(({ row: id, was }) => holds(rowKey(id), was))) continue;
      for (const { row: id, next } of group.writes) rows.set(rowKey(id), next!);
      outcomes.set(group, "written");
    }
    return outcomes;
  };
  const access: RowAccess = {
    read,
    async write(groups) {
      trips.writes++;
      await options.beforeWrite?.();
      return write(groups);
    },
    locked: options.hasLocks
      ? (run) => {
          trips.locked++;
          return run({ read, write });
        }
      : undefined,
    isConflict: () => false,
    wrap: (error) => error as Error,
    maxInFlight: 2,
    serializable: false,
    take: options.take ?? (async () => new Map()),
  };
  /** As another process would. */
  const meddle = (id: RowId) => {
    const state = rows.get(rowKey(id)) ?? { value: 100, ts: 0 };
    rows.set(rowKey(id), { value: state.value - 1, ts: state.ts + 1 });
  };
  return { access, rows, trips, meddle };
}

/** A store whose reads never return, until it is told to speak, by fake timers. */
function silent() {
  vi.useFakeTimers();
  let isSilent = true;
  const { access, trips } = database({
    beforeRead: () => (isSilent ? new Promise(() => {}) : undefined),
  });
  return { store: createGroupCommit(access), trips, speak: () => void (isSilent = false) };
}

describe("group commit", () => {
  afterEach(() => vi.useRealTimers());

  it("locks a row once a guarded write of it was lost, so that its turn comes", async () => {
    const hot = row("hot");
    let meddled = 0;
    const { access, rows, trips, meddle } = database({
      hasLocks: true,
      beforeWrite() {
        meddled++;
        meddle(hot);
      },
    });
    const store = createGroupCommit(access);
    await expect(store.apply([take(hot)])).resolves.toEqual([[99]]);
    expect(trips.locked).toBe(1);
    expect(meddled).toBe(1);
    expect(rows.get(rowKey(hot))?.value).toBe(98);
  });

  it("keeps the calls on a lost row together, however often it is lost", async () => {
    const hot = row("hot");
    let left = 6;
    const { access, rows, trips, meddle } = database({
      beforeWrite() {
        if (left-- > 0) meddle(hot);
      },
    });
    const store = createGroupCommit(access, () => 0.5);
    const results = await Promise.all(Array.from({ length: 20 }, () => store.apply([take(hot)])));
    expect(trips.writes).toBe(7);
    expect(new Set(results.map(([result]) => result![0])).size).toBe(20);
    expect(rows.get(rowKey(hot))?.value).toBe(100 - 6 - 20);
  });

  it("does not let a call on one row overtake one that waits for it and others", async () => {
    let release = () => {};
    let gate: Promise<void> | undefined = new Promise((resolve) => (release = resolve));
    const { access } = database({ beforeWrite: () => gate });
    const store = createGroupCommit(access);
    const order: string[] = [];
    const call = (name: string, ...ids: RowId[]) =>
      store.apply([take(...ids)]).then(() => order.push(name));
    const calls = [call("first", row("a"))];
    await new Promise((resolve) => setTimeout(resolve, 5));
    calls.push(call("both", row("a"), row("b")), call("overtaker", row("b")));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(order).toEqual([]);
    gate = undefined;
    release();
    await Promise.all(calls);
    expect(order.indexOf("both")).toBeLessThan(order.indexOf("overtaker"));
  });

  it("carries more waiting calls than fit in one batch, each once", async () => {
    const hot = row("hot");
    const { access, rows, trips } = database({});
    const store = createGroupCommit(access);
    await store.apply([take(hot)]);
    await Promise.all(Array.from({ length: 2000 }, () => store.apply([take(hot)])));
    expect(rows.get(rowKey(hot))?.value).toBe(100 - 2001);
    expect(trips.writes).toBeGreaterThan(2);
    expect(trips.writes).toBeLessThan(20);
  });

  it("reads for any number of callers in one batch, whatever is being written", async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const { access, trips } = database({ beforeWrite: () => gate });
    const store = createGroupCommit(access);
    const taken = store.apply([take(row("0"))]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const look = (id: RowId): Decision<number> => ({
      rows: [id],
      readOnly: true,
      decide: ([state]) => ({ result: state?.value ?? 100 }),
    });
    const reads = trips.reads;
    const ids = Array.from({ length: 3000 }, (_, i) => row(`${i}`));
    const [first, ...others] = await store.apply(ids.map(look));
    expect(trips.reads - reads).toBe(1);
    expect(first).toBe(100);
    expect(others.every((value) => value === 100)).toBe(true);
    release();
    await taken;
    expect(await store.apply([look(row("0"))])).toEqual([99]);
  });

  it("lets writers go between readers that never end", async () => {
    const { access } = database({
      beforeRead: () => new Promise((resolve) => setImmediate(resolve)),
    });
    const store = createGroupCommit({ ...access, maxInFlight: 1 });
    let isDone = false;
    const look: Decision<undefined> = {
      rows: [row("a")],
      readOnly: true,
      decide: () => ({ result: undefined }),
    };
    const readers = Array.from({ length: 3 }, async () => {
      for (let i = 0; i < 1000 && !isDone; i++) await store.apply([look]);
      return isDone;
    });
    await new Promise((resolve) => setImmediate(resolve));
    await store.apply([take(row("a"))]);
    isDone = true;
    expect(await Promise.all(readers)).toEqual([true, true, true]);
  });

  it("leaves batches behind that never return, but no more than a few of them", async () => {
    const { store, trips, speak } = silent();
    const call = async (key: string) => {
      const answer = store.apply([take(row(key))]);
      await vi.advanceTimersByTimeAsync(1);
      return { answer };
    };
    for (let i = 0; i < 10; i++) await call(`lost ${i}`);
    expect(trips.reads).toBe(2);
    for (let i = 0; i < 10; i++) {
      await vi.advanceTimersByTimeAsync(60_000);
      await call(`more ${i}`);
    }
    expect(trips.reads).toBe(4);
    speak();
    await vi.advanceTimersByTimeAsync(60_000);
    // All connections that the store may use are lost now: nothing can be done but wait.
    await call("one more");
    expect(trips.reads).toBe(4);
  });

  it("answers again through other connections while one is silent", async () => {
    const { store, speak } = silent();
    void store.apply([take(row("a"))]);
    await vi.advanceTimersByTimeAsync(1);
    void store.apply([take(row("b"))]);
    await vi.advanceTimersByTimeAsync(6000);
    speak();
    const answer = store.apply([take(row("a"))]);
    await vi.advanceTimersByTimeAsync(1);
    await expect(answer).resolves.toEqual([[100]]);
  });

  it("does so when all calls are on the one row whose batch never returns", async () => {
    const { store, speak } = silent();
    void store.apply([take(row("a"))]);
    await vi.advanceTimersByTimeAsync(1);
    speak();
    const waiting = store.apply([take(row("a"))]);
    await vi.advanceTimersByTimeAsync(6000);
    await expect(waiting).resolves.toEqual([[100]]);
    await expect(store.apply([take(row("a"))])).resolves.toEqual([[99]]);
    await vi.advanceTimersByTimeAsync(6000);
    expect(vi.getTimerCount()).toBe(0);
  });

  /** A call that takes `count` from a bucket of 10 that does not refill, and what it is told. */
  const plainTake = (id: RowId, count = 1, floor = 0, clock = frozen): Decision<string> => {
    const config = { kind: "token bucket", rate: 10, period: 1e9 } as const;
    const plain: PlainTake<string> = {
      config,
      count,
      floor,
      clock,
      granted: (next, later) => `granted, ${next.value + later} left`,
    };
    return {
      rows: [id],
      plain,
      decide([state]) {
        const next = takeTokens(state ?? null, config, clock(), count, floor);
        return next ? { result: `decided, ${next.value} left`, writes: [next] } : { result: "no" };
      },
    };
  };
  const frozen = () => 1e12;

  /** Takes as a database would, and notes how: the totals of the lines of each statement. */
  function plainDatabase() {
    const statements: [string, number][][] = [];
    const { access, rows, trips } = database({
      hasLocks: true,
      async take({ config, floor, now }, lines) {
        statements.push(lines.map(({ row: { key }, total }) => [key, total]));
        const taken = new Map<string, RateLimitState>();
        for (const { row: id, total } of lines) {
          const next = takeTokens(rows.get(rowKey(id)) ?? null, config, now, total, floor);
          if (next === undefined) continue;
          rows.set(rowKey(id), next);
          taken.set(rowKey(id), next);
        }
        return taken;
      },
    });
    return { store: createGroupCommit(access), rows, trips, statements };
  }

  it("takes for calls on one row together, and tells each what was left after it", async () => {
    const { store, statements, trips } = plainDatabase();
    const results = await store.apply([1, 2, 3].map((count) => plainTake(row("a"), count)));
    expect(results).toEqual(["granted, 9 left", "granted, 7 left", "granted, 4 left"]);
    expect(statements).toEqual([[["a", 6]]]);
    expect(trips).toEqual({ reads: 0, writes: 0, locked: 0 });
  });

  it("asks for no more at once than a full bucket holds, and decides the rest by itself", async () => {
    const { store, statements } = plainDatabase();
    const calls = Array.from({ length: 14 }, () => store.apply([plainTake(row("a"))]));
    const results = (await Promise.all(calls)).flat();
    expect(results.filter((result) => result.startsWith("granted"))).toHaveLength(10);
    expect(results.filter((result) => result === "no")).toHaveLength(4);
    expect(statements[0]).toEqual([["a", 10]]);
  });

  it("takes a part of what was wanted together, where there is not enough for all", async () => {
    const { store, rows, statements } = plainDatabase();
    rows.set(rowKey(row("a")), { value: 3, ts: 1e12 });
    const results = await store.apply([2, 2, 1].map((count) => plainTake(row("a"), count)));
    expect(results).toEqual(["decided, 1 left", "no", "decided, 0 left"]);
    expect(rows.get(rowKey(row("a")))?.value).toBe(0);
    expect(await store.apply([plainTake(row("a"))])).toEqual(["no"]);
    // From now on a read is enough to deny, until the row is written again.
    const before = statements.length;
    expect(await store.apply([plainTake(row("a"))])).toEqual(["no"]);
    rows.set(rowKey(row("a")), { value: 5, ts: 1e12 });
    expect(await store.apply([plainTake(row("a"))])).toEqual(["decided, 4 left"]);
    expect(statements).toHaveLength(before);
    expect(await store.apply([plainTake(row("a"))])).toEqual(["granted, 3 left"]);
  });

  it("puts calls into one statement only if their limits, floors and clocks are the same", async () => {
    const { store, statements } = plainDatabase();
    await store.apply([
      plainTake(row("a")),
      plainTake(row("b"), 1, -5),
      plainTake(row("c")),
      plainTake(row("d"), 1, 0, () => 1e12),
    ]);
    expect(statements).toEqual([
      [
        ["a", 1],
        ["c", 1],
      ],
      [["b", 1]],
      [["d", 1]],
    ]);
  });

  it("decides by itself when the clock gives no number, and fails when it throws", async () => {
    const { store, statements } = plainDatabase();
    expect(await store.apply([plainTake(row("a"), 1, 0, () => NaN)])).toEqual(["no"]);
    const broken = () => {
      throw new Error("no clock");
    };
    await expect(store.apply([plainTake(row("b"), 1, 0, broken)])).rejects.toThrow("no clock");
    expect(statements).toEqual([]);
  });
});
