/** Which writes, guards and groups a batch of decisions becomes. */
import { describe, expect, it } from "vitest";
import type { Row } from "../../../core/rows/row.js";
import type { Bucket } from "../../../core/config.js";
import { MINUTE } from "../../../core/durations.js";
import { type Plan, planWrites } from "../../../server/store/plan-writes.js";
import { type Decision, rowId, rowKey } from "../../../server/store/store.js";
import { createRandom } from "../../support/seeded-random.js";

/** `null` deletes a row, and `"same"` gives its state back as a guard. */
type Next = number | null | "same";
/** The rows that a decision reads, and what it writes. `"throws"` throws. */
type Step = [reads: string, writes?: Readonly<Record<string, Next>> | "throws"];

const rowOf = (used: number): Row => ({ used, ts: 0 });
const id = (name: string) => rowId(name, "key", 0);
const keyOf = (name: string) => rowKey(id(name));

function decisionOf([reads, writes]: Step, seen: (number | null)[][] = []): Decision<unknown> {
  const names = reads.split(" ");
  return {
    rows: names.map(id),
    decide(states) {
      seen.push(states.map((state) => state?.used ?? null));
      if (writes === "throws") throw new Error("no");
      if (writes === undefined) return { result: reads };
      const nexts = names.map((name, i) => {
        const next = writes[name];
        if (next === "same") return states[i]!;
        return typeof next === "number" ? rowOf(next) : next;
      });
      return { result: reads, writes: nexts };
    },
  };
}

const statesOf = (used: Readonly<Record<string, number>>) =>
  new Map(Object.entries(used).map(([name, value]) => [keyOf(name), rowOf(value)]));

const shown = (row: Row | null) => row?.used ?? "none";

/** A plan as text: `a: none > 1, b: 5 | 0 1` is a group of two writes and of the decisions 0 and 1. */
function textOf({ groups, relied }: Plan) {
  const [names, unguarded] = [(key: string) => key.split("\0")[0], Object.entries(relied)];
  return {
    groups: groups.map(({ writes, decisions }) => {
      const each = writes.map(({ row, was, next }) => {
        const isGuard = was?.used === next?.used;
        return `${row.name}: ${isGuard ? shown(was) : `${shown(was)} > ${shown(next)}`}`;
      });
      return `${each.join(", ")} | ${decisions.toSorted((a, b) => a - b).join(" ")}`;
    }),
    unguarded: unguarded
      .filter(([, keys]) => keys !== undefined)
      .map(([index, keys]) => `${index}: ${(keys as string[]).map(names).join(" ")}`),
  };
}

interface Case {
  title: string;
  used?: Record<string, number>;
  steps: Step[];
  groups?: string[];
  unguarded?: string[];
}

const CASES: Case[] = [
  {
    title: "a write of a row that does not exist",
    steps: [["a", { a: 1 }]],
    groups: ["a: none > 1 | 0"],
  },
  {
    title: "many writes of one row, as one write",
    steps: [
      ["a", { a: 1 }],
      ["a", { a: 2 }],
      ["a", { a: 3 }],
    ],
    groups: ["a: none > 3 | 0 1 2"],
  },
  {
    title: "writes of rows that nobody reads together, apart",
    steps: [
      ["a", { a: 1 }],
      ["b", { b: 1 }],
    ],
    groups: ["a: none > 1 | 0", "b: none > 1 | 1"],
  },
  {
    title: "a denial without a guard",
    used: { a: 9 },
    steps: [["a"]],
    unguarded: ["0: a"],
  },
  {
    title: "a denial that follows a write of its row, in the group of the write",
    used: { a: 9 },
    steps: [["a", { a: 10 }], ["a"]],
    groups: ["a: 9 > 10 | 0 1"],
  },
  {
    title: "a denial before the write of its row, without a guard",
    used: { a: 9 },
    steps: [["a"], ["a", { a: 10 }]],
    groups: ["a: 9 > 10 | 1"],
    unguarded: ["0: a"],
  },
  {
    title: "a denial that read a written row, with guards of all that it read",
    used: { a: 9, b: 5 },
    steps: [["a", { a: 10 }], ["a b"]],
    groups: ["a: 9 > 10, b: 5 | 0 1"],
  },
  {
    title: "a denial whose last row was written, with a guard of the rows before it",
    used: { b: 5 },
    steps: [["a", { a: 1 }], ["b c a"]],
    groups: ["a: none > 1, b: 5, c: none | 0 1"],
  },
  {
    title: "a denial that read a guarded row, with the guard",
    used: { a: 9, b: 5, c: 3 },
    steps: [["a", { a: 10 }], ["a b"], ["b c"]],
    groups: ["a: 9 > 10, b: 5, c: 3 | 0 1 2"],
  },
  {
    title: "two groups that a denial joins",
    steps: [["a", { a: 1 }], ["b", { b: 1 }], ["b", { b: 2 }], ["a b"], ["a"]],
    groups: ["a: none > 1, b: none > 2 | 0 1 2 3 4"],
  },
  {
    title: "two groups that a write joins, all or nothing",
    steps: [
      ["a", { a: 1 }],
      ["b", { b: 1 }],
      ["a b", { a: 2, b: 2 }],
      ["c", { c: 1 }],
    ],
    groups: ["a: none > 2, b: none > 2 | 0 1 2", "c: none > 1 | 3"],
  },
  {
    title: "a row that a write did not ask to guard, without a guard",
    used: { b: 5 },
    steps: [["a b", { a: 1 }]],
    groups: ["a: none > 1 | 0"],
  },
  {
    title: "a row that a write asked to guard, with a guard",
    used: { b: 5 },
    steps: [["a b c", { a: 1, b: "same", c: "same" }]],
    groups: ["a: none > 1, b: 5, c: none | 0"],
  },
  {
    title: "a write beside a row that was written before, in one group",
    steps: [
      ["b", { b: 1 }],
      ["a b", { a: 1 }],
    ],
    groups: ["b: none > 1, a: none > 1 | 0 1"],
  },
  {
    title: "guards alone, as having seen their rows",
    used: { a: 9 },
    steps: [["a b", { a: "same", b: "same" }]],
    unguarded: ["0: a b"],
  },
  {
    title: "a row that ends as it began, as having seen it",
    steps: [["a", { a: 1 }], ["a"], ["a", { a: null }]],
    unguarded: ["0: a", "1: a", "2: a"],
  },
  {
    title: "a group of which one row ends as it began, with its guard",
    used: { a: 9 },
    steps: [
      ["a b", { a: 10, b: 1 }],
      ["a", { a: 9 }],
    ],
    groups: ["a: 9, b: none > 1 | 0 1"],
  },
  {
    title: "a deletion",
    used: { a: 9 },
    steps: [["a", { a: null }], ["a"]],
    groups: ["a: 9 > none | 0 1"],
  },
  {
    title: "a decision that throws, without writes",
    used: { a: 9 },
    steps: [
      ["a", "throws"],
      ["a", { a: 10 }],
    ],
    groups: ["a: 9 > 10 | 1"],
  },
  {
    title: "numbers that no row can hold, without writes",
    used: { a: 9 },
    steps: [
      ["a b", { b: 1, a: Infinity }],
      ["a", { a: 10 }],
    ],
    groups: ["a: 9 > 10 | 1"],
  },
];

describe("a plan has", () => {
  it.each(CASES)("$title", ({ used = {}, steps, groups = [], unguarded = [] }) => {
    const plan = planWrites(
      steps.map((step) => decisionOf(step)),
      statesOf(used),
    );
    expect(textOf(plan)).toEqual({ groups, unguarded });
  });
});

it("shows each decision what those before it wrote", () => {
  const seen: (number | null)[][] = [];
  const steps: Step[] = [["a b", { a: 1 }], ["b a", "throws"], ["a", { a: null }], ["b a"]];
  const { settled } = planWrites(
    steps.map((step) => decisionOf(step, seen)),
    statesOf({ b: 5 }),
  );
  expect(seen).toEqual([[null, 5], [5, 1], [1], [5, null]]);
  expect(settled.map(({ ok }) => ok)).toEqual([true, false, true, true]);
});

describe("the configs of a write", () => {
  const bucket: Bucket = { kind: "token bucket", rate: 10, period: MINUTE };
  const configsOf = (...configs: (Bucket | undefined)[]) => {
    const decisions = configs.map((config) => ({
      rows: [{ ...id("a"), config }],
      decide: () => ({ result: 0, writes: [rowOf(1)] }),
    }));
    return planWrites(decisions, new Map()).groups[0]!.writes[0]!.also;
  };
  const others: [string, Bucket | undefined][] = [
    ["another kind", { ...bucket, kind: "fixed window" } as Bucket],
    ["another rate", { ...bucket, rate: 11, capacity: 10 }],
    ["another period", { ...bucket, period: 2 * MINUTE }],
    ["another capacity", { ...bucket, capacity: 11 }],
    ["windows of a time zone", { ...bucket, windows: {} } as unknown as Bucket],
    ["none", undefined],
  ];
  it.each(others)("are all of them, where one has %s", (_, other) => {
    expect(configsOf(bucket, other, bucket, other)).toEqual([bucket, other]);
    expect(configsOf(other, bucket)).toEqual([other, bucket]);
  });
  it("are left out where all fill alike", () => {
    expect(configsOf(bucket, { ...bucket }, { ...bucket, capacity: 10 })).toBeUndefined();
    expect(configsOf(undefined, undefined)).toBeUndefined();
  });
});

/**
 * A decision counts only with the group that has it. So whatever it read must be as it read it once the
 * group is written, unless it wrote without asking for a guard of that row.
 */
it("protects what each of 5,000 random batches has read", () => {
  const random = createRandom(11);
  const int = (below: number) => Math.floor(random() * below);
  const names = ["a", "b", "c", "d"];
  for (let batch = 0; batch < 5_000; batch++) {
    const used = Object.fromEntries(names.filter(() => int(2) === 0).map((name) => [name, int(3)]));
    const steps = Array.from({ length: 1 + int(6) }, (): Step => {
      const reads = names.filter(() => int(3) === 0);
      if (reads.length === 0) reads.push(names[int(4)]!);
      const kind = int(8);
      if (kind === 0) return [reads.join(" "), "throws"];
      if (kind < 4) return [reads.join(" ")];
      const writes = reads
        .filter(() => int(3) > 0)
        .map((name): [string, Next] => [name, int(5) < 3 ? int(3) : int(2) ? "same" : null]);
      return [reads.join(" "), Object.fromEntries(writes)];
    });
    const plan = planWrites(
      steps.map((step) => decisionOf(step)),
      statesOf(used),
    );
    expectProtected(plan, steps, used);
  }
});

function expectProtected(plan: Plan, steps: Step[], used: Record<string, number>) {
  const now: Record<string, number | null> = { ...used };
  const changed = new Set<string>();
  const groupOf = (index: number) => plan.groups.find(({ decisions }) => decisions.includes(index));
  for (const [index, [reads, writes]] of steps.entries()) {
    const group = groupOf(index);
    const rows = group?.writes.map(({ row }) => row.name) ?? plan.relied[index] ?? [];
    const isProtected = (name: string) => rows.includes(name) || rows.includes(keyOf(name));
    if (writes === "throws") {
      expect([plan.settled[index]!.ok, group]).toEqual([false, undefined]);
      continue;
    }
    const wrote = Object.keys(writes ?? {});
    // What it wrote or guarded, and what others changed before it. One that wrote nothing: all of it.
    const needed = reads.split(" ").filter((name) => {
      return wrote.length === 0 || wrote.includes(name) || changed.has(name);
    });
    expect({ steps, index, open: needed.filter((name) => !isProtected(name)) }).toEqual({
      steps,
      index,
      open: [],
    });
    for (const [name, next] of Object.entries(writes ?? {})) {
      if (next === "same") continue;
      now[name] = next;
      changed.add(name);
    }
  }
  const written = plan.groups.flatMap(({ writes }) => writes);
  expect(new Set(written.map(({ row }) => row.name)).size).toBe(written.length);
  for (const { row, was, next } of written) {
    expect(was?.used ?? null).toBe(used[row.name] ?? null);
    expect(next?.used ?? null).toBe(now[row.name] ?? null);
  }
  // What no group writes is as it was.
  for (const name of Object.keys(now)) {
    if (written.some(({ row }) => row.name === name)) continue;
    expect(now[name] ?? null).toBe(used[name] ?? null);
  }
}
