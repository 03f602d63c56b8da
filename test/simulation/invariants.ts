/** Checks the invariants after a simulation. */
import { checkLeaseHistory } from "../histories/lease-verdict.js";
import { findOrder } from "../histories/find-order.js";
import { partsOf } from "../histories/parts.js";
import { Tally } from "./faults.js";
import { checkHolding } from "./hold-invariants.js";
import { EPOCH, type Process } from "./process.js";
import { isCalm } from "./scenario.js";
import type { World } from "./simulate.js";
import { CAPACITY, SHOWN, type ShownName } from "./workloads/context.js";
import { explains } from "./workloads/crowd.js";
import { LEASED } from "./workloads/leases.js";
import { problemOf } from "./workloads/retries.js";
import * as metered from "./workloads/metered.js";
import * as plans from "./workloads/plans.js";
import * as rivals from "./workloads/rivals.js";
import * as slots from "./workloads/slots.js";
import * as warned from "./workloads/warned.js";
import type { Grant } from "./workloads/live.js";

/** @returns counts of what happened inside of the database. */
export function check(world: World): Tally<string> {
  checkOrder(world);
  checkGrants(world);
  checkLeases(world);
  checkErrors(world);
  checkQuiet(world);
  checkCrowd(world);
  checkRetries(world);
  checkRivals(world);
  checkHolding(world);
  checkMetered(world);
  checkPlans(world);
  checkWarned(world);
  checkSlots(world);
  checkFreeSlots(world);
  checkRest(world);
  checkPages(world);
  const reached = new Tally<string>();
  const { locks } = world.network.server.rows;
  reached.note("waits for locks", locks.waits);
  reached.note("deadlocks", locks.deadlocks);
  reached.note("failed calls", world.failures.size);
  return reached;
}

/** Some order of all calls on the shared buckets must explain every answer. */
function checkOrder({ history, problems, hasLost }: World): void {
  if (hasLost) return;
  for (const { keys, operations } of partsOf(history)) {
    const initial = keys.map(() => CAPACITY);
    const found = findOrder(operations, {
      keys,
      initial,
      capacity: CAPACITY,
      maxConfigurations: 50_000,
    });
    if (found.kind !== "inexplicable") continue;
    const { process, action, items, answer, start } = found.failedAt;
    problems.push(
      `no order of the calls explains ${action} ${JSON.stringify(items)} of ${process} at ${start}: ${JSON.stringify(answer)}`,
    );
  }
}

/** In no span more was granted than the capacity and what refills in the span. */
function checkGrants(world: World): void {
  const { grants, problems, scenario, databaseClockError, faults, hasLost } = world;
  if (hasLost || databaseClockError !== 0 || faults.counts.has("database clock set")) return;
  const byKey = new Map<string, Grant[]>();
  for (const grant of grants) {
    byKey.set(grant.key, [...(byKey.get(grant.key) ?? []), grant]);
  }
  // How far a process can be from the clock of the database: the uncertainty after its slowest statement.
  const isSlow = [...faults.counts.keys()].some((fault) => /slow|frozen|busy/.test(fault));
  const error = isSlow ? 8000 : 4 * scenario.delay.most + 5;
  for (const [key, all] of byKey) {
    const {
      rate,
      period,
      capacity = rate,
    } = SHOWN[all[0]!.name as ShownName] as {
      rate: number;
      period: number;
      capacity?: number;
    };
    const isWindow = SHOWN[all[0]!.name as ShownName].kind === "fixed window";
    for (const first of all) {
      let granted = 0;
      const after = all.filter((grant) => grant.start >= first.start).sort((a, b) => a.end - b.end);
      for (const { count, end } of after) {
        granted += count;
        const span = end - first.start + 2 * error;
        const refilled = isWindow
          ? rate * (Math.floor(span / period) + 1)
          : Math.floor((span * rate) / period);
        if (granted <= capacity + refilled) continue;
        problems.push(`${key}: ${granted} granted in ${span.toFixed(0)} ms`);
        return;
      }
    }
  }
}

/** In no span have limits with leases granted more than limits without leases would. */
function checkLeases(world: World): void {
  const { leased, problems, databaseClockError, faults, hasLost } = world;
  if (hasLost || databaseClockError !== 0 || faults.counts.has("database clock set")) return;
  const { excesses } = checkLeaseHistory(leased, LEASED, () => knownClockError(world));
  const [excess] = excesses;
  if (excess === undefined) return;
  const { bucket, from, to, granted, allowed } = excess;
  problems.push(
    `leased ${bucket}: ${granted} granted from ${from.toFixed(2)} to ${to.toFixed(2)} ms, and not ${allowed.toFixed(2)}`,
  );
}

/**
 * How far a process may be from the clock of the database, ms: by the delay of an answer. After a long
 * delay, a process believes its own clock, if that clock can be right.
 */
export function knownClockError({ scenario, faults }: World): number {
  const happened = (names: RegExp) => [...faults.counts.keys()].some((fault) => names.test(fault));
  const near = scenario.delay.most + 2;
  if (happened(/slow request|frozen database/)) return 8000;
  if (!happened(/slow answer|frozen|busy/)) return near;
  const isWrong = scenario.clockError > 50 || faults.counts.has("process clock set");
  return isWrong ? 8000 : near + scenario.clockError;
}

/** While no fault happens, no call may fail because of the store. */
function checkErrors({ scenario, failures, problems }: World): void {
  if (!isCalm(scenario)) return;
  for (const [what, error] of failures) {
    if (isDeadlock(what, error)) continue;
    problems.push(`${what} failed although nothing else did: ${String(error)}`);
  }
}

/** Each bucket of the crowd has lost at least what was granted, and at most what was asked for. */
function checkCrowd({ crowd, network, problems, hasLost }: World): void {
  if (hasLost) return;
  for (const [key, taken] of crowd) {
    const used = network.server.rows.newest(["crowd", key, 0].join("\0"))?.used ?? 0;
    if (explains(taken, used)) continue;
    problems.push(`${key} has lost ${used} tokens: ${JSON.stringify(taken)}`);
  }
}

/** Each id was charged once, whichever process sent it. */
function checkRetries({ retried, network, problems, hasLost }: World): void {
  if (hasLost) return;
  const used = network.server.rows.newest(["retried", "", 0].join("\0"))?.used;
  const problem = problemOf(retried, used);
  if (problem !== undefined) problems.push(problem);
}

/**
 * The table contains all usage, except what a killed process has counted since its last write, and what
 * its unfinished write contained. If nothing but kills happens, the table contains nothing twice.
 */
function checkMetered(world: World): void {
  const { metered: calls, network, problems, hasLost, faults } = world;
  if (hasLost || calls.length === 0) return;
  const harmless = new Set(["killed process", "process clock set", "database clock set"]);
  const isQuiet = [...faults.counts.keys()].every((fault) => harmless.has(fault));
  const lastWritten = (process: Process) => {
    const { from } = process.stops.find(({ to }) => to === Infinity) ?? { from: Infinity };
    if (from === Infinity) return Infinity;
    // While the store fails, a process keeps its sums, and loses them when it ends.
    return isQuiet ? from - metered.FLUSH - WRITE : -Infinity;
  };
  const problem = metered.problemOf(calls, network.server.rows.all(), lastWritten, !isQuiet);
  if (problem !== undefined) problems.push(problem);
}

/** The usage of a key is the sum of both plans' usage, and at most what the larger plan has. */
function checkPlans({ plans: uses, network, problems, hasLost }: World): void {
  if (hasLost) return;
  for (const [key, use] of uses) {
    const used = network.server.rows.newest(["plans", key, 0].join("\0"))?.used ?? 0;
    const problem = plans.problemOf(key, use, used);
    if (problem !== undefined) problems.push(problem);
  }
}

/** Each warning was told, unless the clock was set, so that it is due only much later. */
function checkWarned({
  warned: found,
  problems,
  databaseClockError,
  faults,
  hasLost,
}: World): void {
  if (hasLost || databaseClockError !== 0 || faults.counts.has("database clock set")) return;
  const problem = warned.problemAtEnd(found);
  if (problem !== undefined) problems.push(problem);
}

/** How long a write may take while nothing fails: as long as a call, ms. */
const WRITE = 2000;

/** Of two calls at the same time, neither may rely on a row that the other call has changed. */
function checkRivals({ rivals: calls, problems, hasLost }: World): void {
  if (hasLost) return;
  const problem = rivals.problemOf(calls);
  if (problem !== undefined) problems.push(problem);
}

/** At no instant may more callers hold slots than there are slots. */
function checkSlots({
  held,
  scenario,
  databaseClockError,
  faults,
  problems,
  hasLost,
}: World): void {
  if (hasLost || databaseClockError !== 0 || faults.counts.has("database clock set")) return;
  const problem = slots.problemOf(held, slots.configOf(scenario.seed).slots);
  if (problem !== undefined) problems.push(problem);
}

/** In any case, all slots are free again a few times their `ttl` after the last caller. */
function checkFreeSlots({
  network,
  scenario,
  timeline,
  databaseClockError,
  problems,
}: World): void {
  const { slots: count, ttl } = slots.configOf(scenario.seed);
  for (let shard = 0; shard < count; shard++) {
    const row = network.server.rows.newest(["slots", "", shard].join("\0"));
    const now = EPOCH + timeline.now + databaseClockError;
    if (row == null || row.used > 0 || row.ts + ttl <= now) continue;
    problems.push(`slot ${shard} is held for ${row.ts + ttl - now} ms after the end`);
  }
}

/** A call that was reported as failed sends nothing later. */
function checkQuiet({ ownWrites, quiet, problems }: World): void {
  for (const { key, from, to } of quiet) {
    const write = ownWrites.find(
      (each) => each.key === key && each.sentAt > from && each.sentAt < to,
    );
    if (write === undefined) continue;
    problems.push(
      `${key} was written by a statement sent at ${write.sentAt}, after its call had failed at ${from}`,
    );
  }
}

/** A deadlock ends a transaction of the application, which must retry the transaction. */
function isDeadlock(what: string, error: unknown): boolean {
  const { cause } = error as Error;
  return what === "using" && (cause as { errno?: unknown } | undefined)?.errno === 1213;
}

/** Nothing is left open when all callers have ended. */
function checkRest({ members, network, problems }: World): void {
  for (const { id, callers, pool, process } of members.running) {
    if (callers > 0) problems.push(`${callers} callers of ${id} have not ended`);
    if (pool.lent > 0) problems.push(`${pool.lent} connections of ${id} were not given back`);
    // The stores of a pool have one listener, and a statement has one while it runs.
    if (pool.heldListeners > 1) problems.push(`${pool.heldListeners} listeners of ${id} are left`);
    if (pool.waitingCount > 0) problems.push(`${pool.waitingCount} requests of ${id} still wait`);
    const links = [...network.links].filter((link) => link.process === process);
    if (links.length > pool.openCount) {
      problems.push(`${id} has ${links.length} connections, and ${pool.openCount} in its pool`);
    }
    if (process.timers > 0) problems.push(`${process.timers} timers of ${id} are left`);
    if (pool.unheard !== undefined) {
      problems.push(`${id} would have ended: nobody listened to ${String(pool.unheard)}`);
    }
  }
  const { rows } = network.server;
  if (network.reuses > 0) {
    problems.push(`${network.reuses} statements went to a server that had refused to write`);
  }
  if (rows.open.size > 0) problems.push(`${rows.open.size} transactions are open`);
  if (rows.locks.heldCount > 0) problems.push(`${rows.locks.heldCount} rows are locked`);
}

/** The pages were checked, and no process serves them any more. */
function checkPages({ pages, problems }: World): void {
  if (pages === undefined) return;
  if (!pages.isFinished) problems.push("the pages have not come to their end");
  const left = [...pages.web.served].filter(({ process }) => !process.isDead).length;
  if (left > 0) problems.push(`${left} streams are still served`);
}
