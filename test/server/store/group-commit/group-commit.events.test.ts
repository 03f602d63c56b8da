/**
 * Random events on a database whose statements are answered, or fail, when the test says so. No call is
 * lost or answered twice, no call is applied twice, and no more statements are open than the bounds say.
 */
import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { takeTokens } from "../../../../core/decide.js";
import type { Row } from "../../../../core/rows/row.js";
import { createGroupCommit } from "../../../../server/store/group-commit/group-commit.js";
import type { RowAccess, WriteOutcomes } from "../../../../server/store/row-access.js";
import {
  type Decision,
  type RowId,
  rowKey,
  type Submission,
} from "../../../../server/store/store.js";
import { cases } from "../../../support/cases.js";
import { row } from "../sql/fake-database.js";

const CASES = Number(process.env["EVENT_CASES"] ?? cases(1500));
const MAX_IN_FLIGHT = 2;
/** Those in flight, aside, stalled and given up; see `flights.ts`. */
const MOST = MAX_IN_FLIGHT + 3 + 2 + 2;
const config = { kind: "token bucket", rate: 1e-6, period: 1e9, capacity: 10 } as const;

type Answer = "ok" | "conflict" | "failure" | "other";

/** Few of them, so that calls meet, and enough for all places of batches. */
const anyKey = fc.oneof(fc.constantFrom("a", "b"), fc.constantFrom(..."cdefghijklmnop"));

const anyEvent = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant("call" as const),
      rows: fc.uniqueArray(anyKey, { minLength: 1, maxLength: 3 }),
      kind: fc.constantFrom(
        "plain" as const,
        "plain" as const,
        "decided" as const,
        "read" as const,
      ),
      count: fc.constantFrom(1, 1, 2, 9),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant("answer" as const),
      which: fc.nat(8),
      how: fc.constantFrom<Answer>("ok", "ok", "conflict", "conflict", "failure", "other"),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant("wait" as const),
      ms: fc.constantFrom(1, 40, 60, 120, 6000, 12_000, 60_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant("expire" as const), which: fc.nat(20) }),
  },
);
type Event = typeof anyEvent extends fc.Arbitrary<infer T> ? T : never;

interface Statement {
  answer(how: Answer): void;
}

/** Real immediates, because batches follow each other by those. */
const { setImmediate: immediate } = globalThis;
const flush = async () => {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => immediate(resolve));
};

const CONFLICT = new Error("conflict");

/** A database in which each statement waits for its answer, and takes effect only then. */
function createSlowDatabase(options: { hasLocks: boolean; mixesTerms: boolean }) {
  const rows = new Map<string, Row>();
  const open: Statement[] = [];
  const seen = { most: 0, elsewhere: 0 };

  function statement<TResult>(ids: readonly RowId[], run: () => TResult): Promise<TResult> {
    return new Promise((resolve, reject) => {
      const mine: Statement = {
        answer(how) {
          open.splice(open.indexOf(mine), 1);
          if (how === "conflict") return reject(CONFLICT);
          if (how === "failure") return reject(new Error("failure"));
          // Another process takes a token from one of the rows first.
          if (how === "other" && ids.length > 0) {
            const id = rowKey(ids[0]!);
            const { used, ts } = rows.get(id) ?? { used: 0, ts: 0 };
            rows.set(id, { used: used + 1, ts });
            seen.elsewhere++;
          }
          resolve(run());
        },
      };
      open.push(mine);
      seen.most = Math.max(seen.most, open.length);
    });
  }

  const read: RowAccess["read"] = (ids) =>
    statement(
      [],
      () =>
        new Map(
          ids.flatMap((id) => (rows.has(rowKey(id)) ? [[rowKey(id), rows.get(rowKey(id))!]] : [])),
        ),
    );
  const write: RowAccess["write"] = (groups) =>
    statement(
      groups.flatMap(({ writes }) => writes.map((each) => each.row)),
      () => {
        const outcomes: WriteOutcomes = new Map();
        for (const group of groups) {
          const isSame = group.writes.every(({ row: id, was }) => {
            const state = rows.get(rowKey(id));
            return state?.used === was?.used && state?.ts === was?.ts;
          });
          if (!isSame) continue;
          for (const { row: id, next } of group.writes) {
            // Only a guard, on a row that does not exist.
            if (next !== null) rows.set(rowKey(id), next);
          }
          outcomes.set(group, "written");
        }
        return outcomes;
      },
    );
  const access: RowAccess = {
    read,
    write,
    take: (lines, { now }) =>
      statement(
        lines.map((line) => line.row),
        () => {
          const taken = new Map<string, Row>();
          for (const { row: id, total, terms } of lines) {
            const state = rows.get(rowKey(id)) ?? null;
            const next = takeTokens(state, terms.config, now, total, terms.floor);
            if (next === undefined) continue;
            rows.set(rowKey(id), next);
            taken.set(rowKey(id), next);
          }
          return taken;
        },
      ),
    locked: options.hasLocks ? (run) => run({ read, write }) : undefined,
    mixesTerms: options.mixesTerms,
    serializable: false,
    isConflict: (error) => error === CONFLICT,
    wrap: (error) => error as Error,
    maxInFlight: MAX_IN_FLIGHT,
  };
  return { access, rows, open, seen };
}

interface Call extends Submission<unknown> {
  expired: boolean;
  answers: unknown[];
  /** Tokens that it has if it is granted. */
  wants: number;
}

function createCall({ rows: keys, kind, count }: Extract<Event, { does: "call" }>): Call {
  const rows = kind === "plain" ? [row(keys[0]!)] : keys.map(row);
  const clock = () => 1;
  const decide = (states: readonly (Row | null)[]) => {
    if (kind === "read") return { result: 0 };
    const next = states.map((state) => takeTokens(state, config, 1, count, 0));
    if (next.includes(undefined)) return { result: 0 };
    return { result: count * rows.length, writes: next as Row[] };
  };
  const decision: Decision<unknown> = { rows, readOnly: kind === "read", decide };
  const call: Call = {
    decision:
      kind === "plain"
        ? { ...decision, plain: { config, count, floor: 0, clock, granted: () => count } }
        : decision,
    expired: false,
    answers: [],
    wants: count,
    resolve: (result) => void call.answers.push(result),
    reject: () => void call.answers.push(0),
  };
  return call;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("answers every call once, whatever the database does, and keeps to its bounds", async () => {
  let events = 0;
  let statements = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyEvent, { maxLength: 80, size: "max" }),
      fc.record({ hasLocks: fc.boolean(), mixesTerms: fc.boolean() }),
      async (program, options) => {
        // Those of a run that has failed.
        vi.clearAllTimers();
        const { access, rows, open, seen } = createSlowDatabase(options);
        const store = createGroupCommit(access, () => 0.5);
        const calls: Call[] = [];
        const answer = async (which: number, how: Answer) => {
          statements++;
          open[which % open.length]?.answer(how);
          await flush();
        };
        for (const event of program) {
          events++;
          if (event.does === "call") {
            const call = createCall(event);
            calls.push(call);
            store.submit(call);
          } else if (event.does === "wait") {
            await vi.advanceTimersByTimeAsync(event.ms);
            await flush();
          } else if (event.does === "expire") {
            if (calls.length > 0) calls[event.which % calls.length]!.expired = true;
          } else if (open.length > 0) {
            await answer(event.which, event.how);
          }
          expect(open.length).toBeLessThanOrEqual(MOST);
        }
        for (let i = 0; i < 1000 && calls.some(({ answers }) => answers.length === 0); i++) {
          await flush();
          if (open.length > 0) await answer(0, "ok");
          else await vi.advanceTimersByTimeAsync(1000);
        }
        while (open.length > 0) await answer(0, "ok");
        expect(calls.map(({ answers }) => answers.length)).toEqual(calls.map(() => 1));
        const granted = calls.reduce((sum, { answers }) => sum + (answers[0] as number), 0);
        const gone = [...rows.values()].reduce((sum, { used }) => sum + used, 0);
        expect(gone).toBeCloseTo(granted + seen.elsewhere, 5);
      },
    ),
    { numRuns: CASES },
  );
  // So that a fault of the generator cannot leave the property empty.
  expect(statements).toBeGreaterThan(CASES);
  if (process.env["EVENT_CASES"])
    console.log(`${CASES} runs, ${events} events, ${statements} statements`);
}, 120_000);
