/**
 * Defects that the package has had, or could have, as changes of its sources. A simulation of the changed
 * package must find each defect.
 */

import type { DatabaseKind } from "./databases.js";
import { explore, seedsFrom } from "./explore.js";
import { scenarioOf } from "./scenario.js";
import { loadShipped } from "./shipped.js";

interface Edit {
  /** The end of the path of the source. */
  file: string;
  from: string;
  to: string;
}

export interface Planted extends Edit {
  /** The defect that the change causes. */
  defect: string;
  /** Further changes, if more than one place prevents the defect. */
  also?: readonly Edit[];
  /** The workloads and faults to leave out, if the defect is rare. */
  without?: readonly string[];
  /** The callers that meet the defect. Only simulations with such callers are tried. */
  callers?: "leases" | "slots" | "rivals" | "holds" | "metered" | "plans" | "warned";
  /**
   * Whether the defect concerns pages. Simulations of other defects have no pages, which takes less time.
   */
  pages?: boolean;
  /** The database of the changed driver or dialect. @default any */
  database?: DatabaseKind;
}

/** Left out of simulations that look for a write that wrongly wins. */
const GUARD_ALONE =
  "alone, live, waits, tiers, months, closing, prunes, frozen database, frozen process, held rows".split(
    ", ",
  );
/** Left out of simulations that look for defects of leases. */
const LEASES_ALONE = {
  callers: "leases" as const,
  without: ["shared", "alone", "live", "waits", "tiers", "months", "closing", "prunes"],
};
/** Left out of simulations that look for defects of slots. */
const SLOTS_ALONE = {
  callers: "slots" as const,
  without: [...LEASES_ALONE.without, "leases", "retries", "credits", "rivals"],
};
/** Left out of simulations that look for defects of holds. */
const HOLDS_ALONE = {
  callers: "holds" as const,
  without: [...SLOTS_ALONE.without, "slots", "metered"],
};
/** Left out of simulations that look for defects of usage. */
const USAGE_ALONE = {
  callers: "metered" as const,
  without: [...SLOTS_ALONE.without, "slots", "holds"],
};
/** Left out of simulations that look for defects of warnings. */
const WARNINGS_ALONE = {
  callers: "warned" as const,
  without: [...SLOTS_ALONE.without, "slots", "holds", "metered", "plans"],
};
/** Left out of simulations that look for defects of a line of callers. */
const LINE_ALONE = {
  without: HOLDS_ALONE.without.filter((name) => name !== "alone").concat("holds"),
};
/** Left out of simulations of callers with clocks and plans of their own. */
const CLOCKS_ALONE = {
  without: HOLDS_ALONE.without
    .filter((name) => !["tiers", "months", "closing"].includes(name))
    .concat("holds", "crowd"),
};
/** Left out of simulations that look for defects of pages. */
const PAGES_ALONE = { pages: true, without: ["shared", "alone", "live", "waits"] };

export const PLANTED: readonly Planted[] = [
  {
    defect: "a call takes its tokens before it notes the level that it crosses",
    file: "limiter/verbs/limit.ts",
    from: "if (this.isLoud(result, states[0]!, next, now)) return { result };",
    to: "this.isLoud(result, states[0]!, next, now);",
    ...WARNINGS_ALONE,
  },
  {
    defect: "a level is crossed again after tokens came back",
    file: "core/rows/warning.ts",
    from: "crossed.ts >= ts :",
    to: "crossed.ts >= ts && isReached(config, level, was) :",
    ...WARNINGS_ALONE,
  },
  {
    defect: "a statement takes past a level",
    file: "limiter/claims/quiet.ts",
    from: "if (used + count > most) return undefined;\n  const floor = Math.max(own, emptyAt(part) - most);",
    to: "const floor = own;",
    ...WARNINGS_ALONE,
  },
  {
    defect: "a warning is deleted before its listener has resolved",
    file: "limiter/warnings/stored-warning.ts",
    from: "draft.write(row, { used: now.used, ts: until });",
    to: "draft.write(row, null);",
    ...WARNINGS_ALONE,
  },
  {
    defect: "one in 10,000 writes that lost is taken for one that won",
    file: "store/sql/write-groups.ts",
    from: "rows.has(rowKey(row))))",
    to: "rows.has(rowKey(row)) || Math.random() < 0.0001))",
    without: GUARD_ALONE,
  },
  {
    defect: "a call that has timed out is sent all the same",
    file: "store/drivers/pools/connections.ts",
    from: "if (isWanted !== undefined && !isWanted())",
    to: "if (isWanted !== undefined && isWanted === null)",
  },
  {
    defect: "calls that have timed out stay in the queue",
    file: "store/group-commit/next-batch.ts",
    from: "if (!job.expired) return true;",
    to: "return true;",
  },
  {
    defect: "a result forgets what was given back of it",
    file: "limiter/verbs/settle.ts",
    from: "receipt.countIn(scope)",
    to: "receipt.countIn(scope) + 1",
  },
  {
    defect: "an aborted wait keeps its tokens",
    file: "limiter/verbs/acquire/acquire-line.ts",
    from: "giveBack(this.context, receipt, count)",
    to: "Promise.resolve(undefined)",
    ...LINE_ALONE,
  },
  {
    defect: "each caller of a line reserves for itself",
    file: "limiter/verbs/acquire/acquire-line.ts",
    from: "if (this.#isFailing || request",
    to: "if (true || request",
    ...LINE_ALONE,
  },
  {
    defect: "the turn of a caller who has left is nobody's",
    file: "limiter/verbs/acquire/acquire-line.ts",
    from: "free.waiter = isTaken ? next : leaving;",
    to: "free.waiter = leaving;",
    ...LINE_ALONE,
  },
  {
    defect: "a late timer does not wait once more",
    file: "timers/timer.ts",
    from: "if (late > ON_TIME && !isSecond)",
    to: "if (late > ON_TIME && isSecond)",
  },
  {
    defect: "a read-only connection stays in the pool",
    file: "store/drivers/pg/pg-connections.ts",
    from: " && !isReadOnly(error)",
    to: "",
    database: "postgresql",
    without: ["alone", "waits", "tiers", "months", "closing", "prunes"],
  },
  {
    defect: "nobody listens to the pool",
    file: "store/drivers/pg/pg-driver.ts",
    from: "onPoolError: listenToPool(pool),",
    to: "",
    database: "postgresql",
  },
  {
    defect: "each statement leaves a listener behind",
    file: "store/drivers/pools/lending.ts",
    from: '.removeListener?.("error", ignore)',
    to: "",
  },
  {
    defect: "a silent connection is never destroyed",
    file: "store/drivers/pools/silent-connections.ts",
    from: "this.#pool.release(client, error);\n    // Not every",
    to: "// Not every",
  },
  {
    defect: "a group is written if one of its rows is as it was",
    file: "store/sql/postgresql/writes.ts",
    from: "const isWhole = groups.length === writes.length;",
    to: "const isWhole = true;",
  },
  {
    defect: "a conflict inside a transaction is not retried",
    file: "store/transactions/one-try.ts",
    from: "if (this.#conflict !== undefined) throw this.#conflict.error;",
    to: "",
  },
  {
    defect: "all rows of a statement are charged by the terms of the first one",
    database: "postgresql",
    file: "store/sql/postgresql/take-each.ts",
    from: "places.map((place) => place + 1)",
    to: "places.map(() => 1)",
  },
  {
    defect: "a statement takes from a row of an earlier month as from one of this month",
    file: "store/sql/current-window.ts",
    from: "rate: REFUSED_REFILL",
    to: "rate: 0",
  },
  {
    defect: "decisions of one batch do not see each other's writes",
    file: "store/plan-writes.ts",
    from: "if (next !== undefined) entry.next = next;",
    to: "if (next !== undefined && entry.next === entry.was) entry.next = next;",
  },
  {
    defect: "the clock of the process is believed, and not that of the database",
    file: "store/sql/table/database-clock.ts",
    from: "offset = Math.min(Math.max(Date.now() - receivedAt, bounds.low), bounds.high);",
    to: "offset = Date.now() - receivedAt;",
  },
  {
    defect: "a connection of a late transaction is not given back",
    file: "store/drivers/pg/pg-driver.ts",
    from: "      client.release(readOnly.errorOf(client));\n      return result;",
    to: "      return result;",
  },
  {
    defect: "rows are deleted a second before they are full",
    file: "store/sql/prune.ts",
    from: "now: () => made.number(before),",
    to: "now: () => made.number(before + 61_000),",
    ...CLOCKS_ALONE,
  },
  {
    defect: "rows are deleted that are full for one of the plans only",
    file: "limiter/parts/prune.ts",
    from: "plans.bucketsOf(name) ?? [own]",
    to: "[own]",
    ...CLOCKS_ALONE,
  },
  {
    defect: "a page of a list begins one key too late",
    file: "limiter/list/list.ts",
    from: "cursorOf(shown.at(-1)!)",
    to: "cursorOf(keys.at(-1)!)",
  },
  {
    defect: "forget stops after the first name",
    file: "limiter/verbs/forget.ts",
    from: "    deleted += ofName;",
    to: "    return ofName;",
  },
  {
    defect: "each denial closes the bucket anew",
    file: "core/block.ts",
    from: "if (blockFor === undefined || wasShut(existing)) return undefined;",
    to: "if (blockFor === undefined) return undefined;",
  },
  {
    defect: "an id is charged twice",
    file: "limiter/claims/once.ts",
    from: "      draft.write(marker.row, markerOf(rowAfter(draft, limit, now), limit.part, now));\n",
    to: "",
  },
  {
    defect: "tokens that come back open a closed bucket",
    file: "core/refund.ts",
    from: "if (isClosed(rows[index], now)) continue;",
    to: "",
  },
  {
    defect: "a debt is read as use",
    file: "core/rows/bucket.ts",
    from: "return used < 0 ? { used: capacityOf(config) - used, ts } : row;",
    to: "return used < 0 ? { used: -used, ts } : row;",
  },
  {
    defect: "idle time is refilled twice",
    file: "core/calculate.ts",
    from: "const rest = used - (elapsed * config.rate) / config.period;",
    to: "const rest = used - (2 * elapsed * config.rate) / config.period;",
  },
  {
    defect: "a closing scales with the rate",
    file: "core/block.ts",
    from: "return closedUntil(Math.max(now, ts) + blockFor, config, ts);",
    to: "return { used: -(config.rate * blockFor) / config.period, ts: Math.max(now, ts) };",
  },
  {
    defect: "a call by a smaller plan forgets what a larger one has used",
    file: "core/rows/larger.ts",
    from: "return isOfLarger(config, next) ? next : rowOf(config, used, reading.ts);",
    to: "return rowOf(config, used, reading.ts);",
    ...CLOCKS_ALONE,
  },
  {
    defect: "a smaller plan that settles what it held frees what a larger one has used",
    file: "core/rows/reading.ts",
    from: "return row && isOfLarger(config, row)",
    to: "return row && Number.isNaN(row.used)",
    callers: "plans",
  },
  {
    defect: "a month from the 31st skips the end of February",
    file: "core/windows.ts",
    from: "(Math.min(day, date.getUTCDate()) - 1) * DAY",
    to: "(day - 1) * DAY",
  },
  {
    defect: "a denied reservation waits for all of its tokens",
    file: "core/decide.ts",
    from: "waitFor(row, config, now, count, floor)",
    to: "waitFor(row, config, now, count, 0)",
  },
  {
    defect: "the wait after a denial is a ms too short",
    file: "core/calculate.ts",
    from: "return Math.min(MAX_RETRY_AFTER, firstWhole(guess, passes));",
    to: "return Math.min(MAX_RETRY_AFTER, firstWhole(guess, passes)) - 30;",
  },
  {
    defect: "a page does not notice that its stream fell silent",
    file: "client/transport.ts",
    from: 'if (connection.state === "connecting" && connection.error) onLost();',
    to: "",
    ...PAGES_ALONE,
  },
  {
    defect: "a page does not poll until its stream delivers",
    file: "client/stream-or-poll.ts",
    from: "      startTimer();\n    }\n    const groups",
    to: "    }\n    const groups",
    ...PAGES_ALONE,
  },
  {
    defect: "a page keeps the debit of a call that was not charged",
    file: "client/debits.ts",
    from: "entry.giveBack(debit);",
    to: "",
    ...PAGES_ALONE,
  },
  {
    defect: "a page asks once for a charge that nothing has confirmed",
    file: "client/debits.ts",
    from: "askLater(Math.min(Math.max(2 * ms, REPORT_TIMEOUT), LAST_TIMEOUT));",
    to: "",
    ...PAGES_ALONE,
  },
  {
    defect: "a page takes its own clock for the server's",
    file: "client/limit-entry.ts",
    from: "predictStatus(at - offset, now,",
    to: "predictStatus(at, now,",
    ...PAGES_ALONE,
  },
  {
    defect: "a page believes a clock that was set",
    file: "client/clocks.ts",
    from: "if (Math.abs(step) > STEP) {",
    to: "if (Math.abs(step) > Infinity) {",
    ...PAGES_ALONE,
  },
  {
    defect: "a closed stream of a page is opened again",
    file: "client/stream-or-poll.ts",
    from: "closeReplaced();\n          if (mine !== streams) return;\n          onLost();",
    to: "closeReplaced();\n          onLost();",
    ...PAGES_ALONE,
  },
  {
    defect: "streams hear of no change by another process",
    file: "live/watch-hub.ts",
    from: "const ticker = setInterval(() => this.#reads.refresh(this.#entries.all()), pause);",
    to: "const ticker = setInterval(() => {}, pause);",
    ...PAGES_ALONE,
  },
  {
    defect: "a process goes on for streams that have ended",
    file: "live/watch-hub.ts",
    from: "    this.#stop?.();\n    this.#stop = undefined;",
    to: "",
    ...PAGES_ALONE,
  },
  {
    defect: "pages do not end the holds that have lapsed",
    file: "limiter/verbs/read.ts",
    from: "if (due.length === 0) return reads;",
    to: "if (due.length >= 0) return reads;",
    ...PAGES_ALONE,
  },
  {
    defect: "the countdown of a page does not end when tokens come back",
    file: "client/prediction.ts",
    from: "if (!next || next.at >= at) return at;",
    to: "return at;",
    ...PAGES_ALONE,
  },
  {
    defect: "blocks are taken from the whole capacity",
    file: "leases/lease-terms.ts",
    from: 'config.kind === "fixed window" ? 0 : tokensWithin(config, ms);',
    to: "0;",
    ...LEASES_ALONE,
  },
  {
    defect: "what a block has left when it lapses goes back into the row",
    file: "limiter/answers/leased.ts",
    from: "    const block = lease.take(count);\n",
    to: `for (const old of lease.blocks) {
        const left = old.remaining;
        if (old.isLiving() || left === 0) continue;
        old.remaining = 0;
        const add = (row) => ({ ...row, used: Math.max(0, row.used - left) });
        const decide = ([row]) => ({ result: undefined, writes: [row && add(row)] });
        this.parts.ask({ decision: { rows: limit.rows, decide }, done() {}, failed() {} });
      }
      const block = lease.take(count);
    `,
    ...LEASES_ALONE,
  },
  {
    defect: "a block that is used lives on",
    file: "leases/block.ts",
    from: "    this.remaining -= count;\n",
    to: `    this.remaining -= count;
      const { clocks, startedAt, end } = this;
      this.life ??= end.monotonic - startedAt.monotonic;
      this.end = {
        monotonic: clocks.monotonic() + this.life,
        wall: clocks.wall() + this.life,
        limiter: clocks.limiter() + this.life,
      };
    `,
    ...LEASES_ALONE,
  },
  {
    defect: "credits go below zero",
    file: "core/config.ts",
    from: "return Math.min(emptyAt(config) - floor, Number.MAX_VALUE);",
    to: "return emptyAt(config) - (config.rate === 0 ? floor - 1 : floor);",
    without: ["shared", "alone", "live", "waits", "tiers", "months", "closing", "prunes", "leases"],
  },
  {
    defect: "a draft forgets to note what it has read",
    file: "limiter/claims/draft.ts",
    from: "return next === undefined && this.#read[at] ? was : next;",
    to: "return next;",
    callers: "rivals",
    without: SLOTS_ALONE.without.concat("slots").filter((name) => name !== "rivals"),
  },
  {
    defect: "a late release frees the slot of another caller",
    file: "limiter/slots/slot-decisions.ts",
    from: 'if (!isHolder(state, value, writtenAt)) return "not held";',
    to: "",
    ...SLOTS_ALONE,
  },
  {
    defect: "a slot is free before its holder gives it up",
    file: "core/rows/slot.ts",
    from: "ttlIn(row) ?? ttl)",
    to: "ttlIn(row) ?? ttl) / 8",
    ...SLOTS_ALONE,
  },
  {
    defect: "a holder does not look at the time",
    file: "limiter/slots/hold.ts",
    from: "this.#lose(), this.#validUntil - performance.now())",
    to: "this.#lose(), 2 ** 30)",
    ...SLOTS_ALONE,
  },
  {
    defect: "a hold is released twice",
    file: "limiter/claims/end-hold.ts",
    from: "  draft.write(marker.hold!, null);\n",
    to: "",
    ...HOLDS_ALONE,
  },
  {
    defect: "holds are reclaimed before they lapse",
    file: "limiter/holds/end-lapsed.ts",
    from: "hold.until <= now)",
    to: "hold.until <= now + 600)",
    also: [{ file: "core/rows/hold.ts", from: "now >= state.ts", to: "now + 600 >= state.ts" }],
    ...HOLDS_ALONE,
  },
  {
    defect: "a repeat of a call ends the hold of the first one",
    file: "limiter/claims/receipt.ts",
    from: "of.isHeld && this.isTaken;",
    to: "of.isHeld;",
    also: [
      {
        file: "limiter/claims/receipt.ts",
        from: "marker: marker!, at: now, context }",
        to: "marker: marker!, at: this.isTaken ? now : undefined, context }",
      },
    ],
    ...HOLDS_ALONE,
  },
  {
    defect: "a settle after a release gives back again",
    file: "limiter/claims/end-hold.ts",
    from: "  if (state === null) return { ok: false, reason: reasonOf(mark, marker, now) };\n",
    to: `  if (state === null) {
    const reason = reasonOf(mark, marker, now);
    const again = ending.kind === "settle" && reason === "released";
    const taken = { count: 1, used: 0, ts: mark?.ts ?? now };
    if (again) refundRows(limit, [row], 1, [taken]).attempt(draft, now);
    return { ok: false, reason };
  }
`,
    ...HOLDS_ALONE,
  },
  {
    defect: "a hold that lapses is given back, whatever was chosen",
    file: "core/rows/hold.ts",
    from: 'atLapse: used > 0 ? "keep" : "release"',
    to: 'atLapse: "release"',
    ...HOLDS_ALONE,
  },
  {
    defect: "the sum of holds is as it was where one has gone and another one has come",
    file: "core/rows/hold.ts",
    from: "ts: first - part }",
    to: "ts: first }",
    ...HOLDS_ALONE,
  },
  {
    defect: "the next lapse is that of the holds that a transaction sees",
    file: "limiter/holds/end-lapsed.ts",
    from: "areAll || (found",
    to: "found.length >= 0 || (found",
    ...HOLDS_ALONE,
    database: "mysql",
  },
  {
    defect: "usage that could not be written is forgotten",
    file: "limiter/usage/usage-flush.ts",
    from: "            this.#putBack(of);\n",
    to: "",
    ...USAGE_ALONE,
  },
  {
    defect: "usage is written again, though it was written",
    file: "limiter/usage/usage-flush.ts",
    from: "const ended = () => --left === 0 && done(first);",
    to: "const ended = () => { if (count > 5) this.#putBack([addition]); --left === 0 && done(first); };",
    ...USAGE_ALONE,
  },
];

/** Puts the defect into the source. */
export function plant({ also = [], ...first }: Planted): (path: string, code: string) => string {
  return (path, code) =>
    [first, ...also].reduce((edited, { file, from, to }) => {
      if (!path.endsWith(`/${file}`)) return edited;
      if (edited.split(from).length !== 2) throw new Error(`${file} has not exactly one ${from}`);
      return edited.replace(from, () => to);
    }, code);
}

function* seedsWith(workload: NonNullable<Planted["callers"]>): Generator<number> {
  for (const seed of seedsFrom(1, 1)) if (scenarioOf(seed).callers[workload] > 0) yield seed;
}

export interface Found {
  defect: string;
  /** `undefined`: the defect was not found. */
  seed: number | undefined;
  problem: string;
  seeds: number;
  calls: number;
  seconds: number;
}

/** @param within how long to look, s. */
export async function find(planted: Planted, within: number): Promise<Found> {
  const startedAt = performance.now();
  const start = await loadShipped(plant(planted));
  const seeds = planted.callers ? seedsWith(planted.callers) : seedsFrom(1, 1);
  const explored = await explore(start, {
    seeds,
    shouldContinue: (soFar) =>
      soFar.failures.length === 0 && performance.now() - startedAt < within * 1000,
    shrinks: false,
    cut: {
      duration: 5000,
      without: ["crowd", ...(planted.without ?? [])],
      ...(planted.database && { database: planted.database }),
      ...(!planted.pages && { pages: 0 }),
    },
  });
  const [failure] = explored.failures;
  return {
    defect: planted.defect,
    seed: failure?.seed,
    problem: failure?.problem ?? "",
    seeds: explored.seeds,
    calls: explored.calls,
    seconds: (performance.now() - startedAt) / 1000,
  };
}
