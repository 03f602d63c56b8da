/** The calls of one tick, on a client that answers at once. */
import { describe, expect, it } from "vitest";
import type { Row } from "../../../../core/rows/row.js";
import { decideAtOnce } from "../../../../server/store/at-once.js";
import {
  createCommitAtOnce,
  type TickRunner,
} from "../../../../server/store/group-commit/commit-at-once.js";
import type { RowAccess } from "../../../../server/store/row-access.js";
import { WriteConflictError } from "../../../../server/store/retry-conflicts.js";
import { type Decision, rowKey } from "../../../../server/store/store.js";
import { row } from "../sql/fake-database.js";

const adding = (key: string): Decision<number> => ({
  rows: [row(key)],
  decide([state]) {
    const used = (state?.used ?? 0) + 1;
    return { result: used, writes: [{ used, ts: 0 }] };
  },
});
const reading = (key: string): Decision<number> => ({
  rows: [row(key)],
  readOnly: true,
  decide: ([state]) => ({ result: state?.used ?? 0 }),
});

/** @param before runs before each transaction, and may throw. */
function setUp(before: (decisions: readonly Decision<unknown>[]) => void = () => {}) {
  const rows = new Map<string, Row | null>();
  const transactions: number[] = [];
  const access: Pick<RowAccess, "prepare" | "isConflict" | "wrap" | "serializable"> = {
    serializable: false,
    isConflict: (error) => error instanceof WriteConflictError,
    wrap: (error) => new Error("the store has failed", { cause: error }),
  };
  const runner: TickRunner = {
    inTurn(run) {
      run();
      return undefined;
    },
    transact(decisions) {
      transactions.push(decisions.length);
      before(decisions);
      const { settled, changed } = decideAtOnce(decisions, {
        get: (each) => rows.get(rowKey(each)) ?? null,
      });
      for (const { row: each, next } of changed) rows.set(rowKey(each), next);
      return settled;
    },
  };
  return { access, transactions, store: createCommitAtOnce(access, runner, () => 0) };
}

describe("the calls of one tick", () => {
  it("are one transaction, and those that only read another one before it", async () => {
    const { store, transactions } = setUp();
    const results = await Promise.all([
      store.apply([adding("a"), adding("b")]),
      store.apply([adding("a")]),
      store.apply([reading("a")]),
    ]);
    expect(results).toEqual([[1, 1], [2], [0]]);
    expect(transactions).toEqual([1, 3]);
  });

  it("are tried again after a conflict, without those that come meanwhile", async () => {
    let conflicts = 2;
    const { store, transactions } = setUp(() => {
      if (conflicts-- > 0) throw new WriteConflictError();
    });
    const first = store.apply([adding("a"), adding("b")]);
    await Promise.resolve();
    const second = store.apply([adding("a")]);
    expect(await Promise.all([first, second])).toEqual([[1, 1], [2]]);
    expect(transactions).toEqual([2, 1, 2, 1]);
  });

  it("take nothing if they have timed out before", async () => {
    const { store, access, transactions } = setUp();
    const call = { expired: false };
    access.prepare = async () => {
      call.expired = true;
      delete access.prepare;
    };
    const late = store.apply([adding("a")], call);
    const other = store.apply([adding("a")]);
    await expect(late).rejects.toThrow("the call timed out before the store began it");
    expect(await other).toEqual([1]);
    expect(transactions).toEqual([1]);
  });

  it("are rejected with the store's error if the transaction fails, and the next ones are not", async () => {
    let fails = true;
    const { store } = setUp(() => {
      if (fails) throw new Error("the disk is full");
    });
    const calls = [store.apply([adding("a")]), store.apply([adding("b")])];
    for (const call of calls) await expect(call).rejects.toThrow("the store has failed");
    fails = false;
    expect(await store.apply([adding("a")])).toEqual([1]);
  });

  it("are rejected if the table cannot be used, and a listener is told", async () => {
    const { store, access, transactions } = setUp();
    const events: unknown[] = [];
    store.onBatch!(({ way, calls, rows, failed }) => events.push({ way, calls, rows, failed }));
    access.prepare = () => Promise.reject(new Error("no table"));
    const calls = [store.apply([adding("a")]), store.apply([adding("b")])];
    for (const call of calls) await expect(call).rejects.toThrow("the store has failed");
    expect(transactions).toEqual([]);
    expect(events).toEqual([{ way: "read", calls: 2, rows: 0, failed: true }]);
  });

  it("are several transactions if there are many of them, between which other work runs", async () => {
    const { store, transactions } = setUp();
    let between: number | undefined;
    setImmediate(() => (between = transactions.length));
    const results = await store.apply(Array.from({ length: 2500 }, () => adding("a")));
    expect(results.at(-1)).toBe(2500);
    expect(transactions).toEqual([1024, 1024, 452]);
    expect(between).toBe(1);
  });

  it("say which conflicts they had to a listener", async () => {
    let conflicts = 1;
    const { store } = setUp(() => {
      if (conflicts-- > 0) throw new WriteConflictError();
    });
    const events: unknown[] = [];
    const stop = store.onBatch!((event) => events.push({ ...event, duration: 0 }));
    await store.apply([adding("a"), adding("a"), adding("b")]);
    stop();
    await store.apply([adding("a")]);
    const batch = { way: "decide", calls: 3, rows: 2, failed: false, duration: 0 };
    expect(events).toEqual([
      { ...batch, conflicts: 3 },
      { ...batch, conflicts: 0 },
    ]);
  });
});
