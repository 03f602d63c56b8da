import { afterEach, describe, expect, it, vi } from "vitest";
import { createGroupCommit } from "../../../../server/store/group-commit/group-commit.js";
import { type Decision, type RowId, rowKey } from "../../../../server/store/store.js";
import { createFakeDatabase, row } from "../sql/fake-database.js";

/** Takes 1 from each row. The result is what was used of each before. */
const take = (...ids: RowId[]): Decision<number[]> => ({
  rows: ids,
  decide(states) {
    const before = states.map((state) => state?.used ?? 0);
    const ts = Math.max(...states.map((state) => state?.ts ?? 0)) + 1;
    return { result: before, writes: before.map((used) => ({ used: used + 1, ts })) };
  },
});

/** A store whose reads do not return until `answerReads` is called. It runs on fake timers. */
function createStalledStore() {
  vi.useFakeTimers();
  let isStalled = true;
  const { access, counts } = createFakeDatabase({
    beforeRead: () => (isStalled ? new Promise(() => {}) : undefined),
  });
  return { store: createGroupCommit(access), counts, answerReads: () => void (isStalled = false) };
}

describe("group commit", () => {
  afterEach(() => vi.useRealTimers());

  it("dispatches no call before the database is prepared, and then all of them at once", async () => {
    const { access, counts } = createFakeDatabase({});
    let prepare = () => {};
    let prepared: Promise<void> | undefined = new Promise((resolve) => (prepare = resolve));
    const store = createGroupCommit({ ...access, prepare: () => prepared });
    const calls = [store.apply([take(row("a"))])];
    await new Promise(setImmediate);
    calls.push(store.apply([take(row("b"))]));
    await new Promise(setImmediate);
    expect(counts.reads).toBe(0);
    prepared = undefined;
    prepare();
    await expect(Promise.all(calls)).resolves.toEqual([[[0]], [[0]]]);
    expect(counts.reads).toBe(1);
  });

  it("rejects all waiting calls when the database cannot be prepared, and later calls try again", async () => {
    const { access } = createFakeDatabase({});
    let prepared: Promise<void> | undefined = Promise.reject(new Error("no table"));
    const store = createGroupCommit({ ...access, prepare: () => prepared });
    const calls = ["a", "b"].map((key) => store.apply([take(row(key))]));
    for (const call of calls) await expect(call).rejects.toThrow("no table");
    prepared = undefined;
    await expect(store.apply([take(row("a"))])).resolves.toEqual([[0]]);
  });

  it("locks a row after one conflict, so that a busy row cannot starve a call", async () => {
    const hot = row("hot");
    let otherTakes = 0;
    const { access, rows, counts, takeElsewhere } = createFakeDatabase({
      hasLocks: true,
      beforeWrite() {
        otherTakes++;
        takeElsewhere(hot);
      },
    });
    rows.set(rowKey(hot), { used: 0, ts: 0 });
    const store = createGroupCommit(access);
    await expect(store.apply([take(hot)])).resolves.toEqual([[1]]);
    expect(counts.locked).toBe(1);
    expect(otherTakes).toBe(1);
    expect(rows.get(rowKey(hot))?.used).toBe(2);
  });

  it("locks the rows of calls that share some of them in one transaction, and no others", async () => {
    const [a, b, c, d] = ["a", "b", "c", "d"].map(row) as [RowId, RowId, RowId, RowId];
    let conflicts = 1;
    const { access, rows, counts, takeElsewhere } = createFakeDatabase({
      hasLocks: true,
      beforeWrite() {
        if (conflicts-- > 0) for (const each of [b, d]) takeElsewhere(each);
      },
    });
    for (const each of [a, b, c, d]) rows.set(rowKey(each), { used: 0, ts: 0 });
    const store = createGroupCommit(access);
    const calls = [take(a, b), take(b, c), take(d)].map((call) => store.apply([call]));
    await expect(Promise.all(calls)).resolves.toEqual([[[0, 1]], [[2, 0]], [[1]]]);
    expect(counts.locked).toBe(2);
  });

  it("answers contended calls on free rows while calls on other rows wait for locks", async () => {
    // Batches follow each other by immediates that no test fakes.
    const { setImmediate: immediate } = globalThis;
    vi.useFakeTimers();
    const pass = async (ms: number) => {
      await vi.advanceTimersByTimeAsync(ms);
      for (let i = 0; i < 3; i++) await new Promise((resolve) => immediate(resolve));
    };
    const { access, rows, takeElsewhere } = createFakeDatabase({ hasLocks: true });
    const contended = new Set<string>();
    const store = createGroupCommit({
      ...access,
      // Another process takes from each row first, so that the call has to lock it.
      async write(groups) {
        for (const { row: id } of groups.flatMap(({ writes }) => writes)) {
          if (!contended.has(id.key)) takeElsewhere(id);
          contended.add(id.key);
        }
        return access.write(groups);
      },
      locked: (run) =>
        run({
          ...access,
          async read(ids) {
            if (ids.some(({ key }) => key.startsWith("held"))) await new Promise(() => {});
            return access.read(ids);
          },
        }),
    });
    let answered = 0;
    const call = (...ids: RowId[]) => {
      // A call that loses a new row does not lock it.
      for (const id of ids) if (!rows.has(rowKey(id))) rows.set(rowKey(id), { used: 0, ts: 0 });
      void store.apply([take(...ids)]).then(() => answered++);
    };
    for (let i = 0; i < 2; i++) {
      call(row(`held ${i}`), row(`beside ${i}`));
      await pass(100);
    }
    expect(answered).toBe(0);
    for (let i = 0; i < 10; i++) {
      call(row(`free ${i}`), row("shared"));
      await pass(10);
    }
    expect(answered).toBe(10);
    // This call waits behind a held row. Meanwhile its other row is free.
    call(row("held 0"), row("shared"));
    call(row("shared"));
    await pass(10);
    expect(answered).toBe(11);
  });

  it("keeps the calls on one row in one batch, however many conflicts it meets", async () => {
    const hot = row("hot");
    let conflicts = 6;
    const { access, rows, counts, takeElsewhere } = createFakeDatabase({
      beforeWrite() {
        if (conflicts-- > 0) takeElsewhere(hot);
      },
    });
    const store = createGroupCommit(access, () => 0.5);
    const results = await Promise.all(Array.from({ length: 20 }, () => store.apply([take(hot)])));
    expect(counts.writes).toBe(7);
    expect(new Set(results.map(([result]) => result![0])).size).toBe(20);
    expect(rows.get(rowKey(hot))?.used).toBe(6 + 20);
  });

  it("does not let a call on one row overtake an earlier call on that row and others", async () => {
    let release = () => {};
    let gate: Promise<void> | undefined = new Promise((resolve) => (release = resolve));
    const { access } = createFakeDatabase({ beforeWrite: () => gate });
    const store = createGroupCommit(access);
    const order: string[] = [];
    const call = (name: string, ...ids: RowId[]) =>
      store.apply([take(...ids)]).then(() => order.push(name));
    const calls = [call("first", row("a"))];
    await new Promise((resolve) => setTimeout(resolve, 5));
    calls.push(call("both", row("a"), row("b")), call("later", row("b")));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(order).toEqual([]);
    gate = undefined;
    release();
    await Promise.all(calls);
    expect(order.indexOf("both")).toBeLessThan(order.indexOf("later"));
  });

  it("applies each waiting call once when there are more than fit in one batch", async () => {
    const hot = row("hot");
    const { access, rows, counts } = createFakeDatabase({});
    const store = createGroupCommit(access);
    await store.apply([take(hot)]);
    await Promise.all(Array.from({ length: 2000 }, () => store.apply([take(hot)])));
    expect(rows.get(rowKey(hot))?.used).toBe(2001);
    expect(counts.writes).toBeGreaterThan(2);
    expect(counts.writes).toBeLessThan(20);
  });

  it("reads for any number of callers in one batch, even while a write is in flight", async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const { access, counts } = createFakeDatabase({ beforeWrite: () => gate });
    const store = createGroupCommit(access);
    const taken = store.apply([take(row("0"))]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const readUsed = (id: RowId): Decision<number> => ({
      rows: [id],
      readOnly: true,
      decide: ([state]) => ({ result: state?.used ?? 0 }),
    });
    const reads = counts.reads;
    const ids = Array.from({ length: 3000 }, (_, i) => row(`${i}`));
    const [first, ...others] = await store.apply(ids.map(readUsed));
    expect(counts.reads - reads).toBe(1);
    expect(first).toBe(0);
    expect(others.every((used) => used === 0)).toBe(true);
    release();
    await taken;
    expect(await store.apply([readUsed(row("0"))])).toEqual([1]);
  });

  it("lets a write proceed while reads keep arriving", async () => {
    const { access } = createFakeDatabase({
      beforeRead: () => new Promise((resolve) => setImmediate(resolve)),
    });
    const store = createGroupCommit({ ...access, maxInFlight: 1 });
    let isDone = false;
    const read: Decision<undefined> = {
      rows: [row("a")],
      readOnly: true,
      decide: () => ({ result: undefined }),
    };
    const readers = Array.from({ length: 3 }, async () => {
      for (let i = 0; i < 1000 && !isDone; i++) await store.apply([read]);
      return isDone;
    });
    await new Promise((resolve) => setImmediate(resolve));
    await store.apply([take(row("a"))]);
    isDone = true;
    expect(await Promise.all(readers)).toEqual([true, true, true]);
  });

  it("dispatches new batches past stalled ones, but tolerates only a few stalled batches", async () => {
    const { store, counts, answerReads } = createStalledStore();
    const call = async (key: string) => {
      const answer = store.apply([take(row(key))]);
      await vi.advanceTimersByTimeAsync(1);
      return { answer };
    };
    for (let i = 0; i < 10; i++) await call(`stalled ${i}`);
    expect(counts.reads).toBe(2);
    await vi.advanceTimersByTimeAsync(6000);
    for (let i = 0; i < 10; i++) await call(`more ${i}`);
    expect(counts.reads).toBe(4);
    for (let i = 0; i < 10; i++) {
      await vi.advanceTimersByTimeAsync(60_000);
      await call(`later ${i}`);
    }
    expect(counts.reads).toBe(6);
    answerReads();
    await vi.advanceTimersByTimeAsync(60_000);
    // The store has now used all the connections that it may, so further calls have to wait.
    await call("one more");
    expect(counts.reads).toBe(6);
  });

  it.each([
    ["the same row", ["a", "a", "a"], "a"],
    ["different rows", ["a", "b", "c", "d"], "e"],
  ])(
    "gives up a stalled batch after a long silence, so that another connection can answer (%s)",
    async (_, silent, key) => {
      const { store, counts, answerReads } = createStalledStore();
      for (const each of silent) {
        void store.apply([take(row(each))]);
        await vi.advanceTimersByTimeAsync(6000);
      }
      expect(counts.reads).toBe(silent.length);
      answerReads();
      const answer = store.apply([take(row(key))]);
      await vi.advanceTimersByTimeAsync(10_000);
      await expect(answer).resolves.toEqual([[0]]);
      await expect(store.apply([take(row(key))])).resolves.toEqual([[1]]);
    },
  );

  it("answers through another connection while one connection is stalled", async () => {
    const { store, answerReads } = createStalledStore();
    void store.apply([take(row("a"))]);
    await vi.advanceTimersByTimeAsync(1);
    void store.apply([take(row("b"))]);
    await vi.advanceTimersByTimeAsync(6000);
    answerReads();
    const answer = store.apply([take(row("a"))]);
    await vi.advanceTimersByTimeAsync(1);
    await expect(answer).resolves.toEqual([[0]]);
  });

  it("answers calls on a row again after the batch of that row has stalled", async () => {
    const { store, answerReads } = createStalledStore();
    void store.apply([take(row("a"))]);
    await vi.advanceTimersByTimeAsync(1);
    answerReads();
    const waiting = store.apply([take(row("a"))]);
    await vi.advanceTimersByTimeAsync(6000);
    await expect(waiting).resolves.toEqual([[0]]);
    await expect(store.apply([take(row("a"))])).resolves.toEqual([[1]]);
    await vi.advanceTimersByTimeAsync(6000);
    expect(vi.getTimerCount()).toBe(0);
  });
});
