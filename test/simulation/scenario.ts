/** The decisions of a seed before a simulation begins. */
import { DATABASES, type DatabaseKind } from "./databases.js";
import { type FaultPlan } from "./faults.js";
import { pagesOf, type PagesPlan } from "./pages/plan.js";
import { createRandom, type Random } from "./random.js";

type WorkloadName =
  | "shared"
  | "alone"
  | "live"
  | "waits"
  | "crowd"
  | "tiers"
  | "months"
  | "closing"
  | "prunes"
  | "leases"
  | "retries"
  | "credits"
  | "slots"
  | "rivals"
  | "holds"
  | "metered"
  | "plans"
  | "warned";

export interface Scenario {
  seed: number;
  database: DatabaseKind;
  processes: number;
  /** The number of callers of each workload, in each process. */
  callers: Record<WorkloadName, number>;
  /** The most connections of each process. */
  pool: number;
  /** The delay of one way between a process and the database, ms. */
  delay: { least: number; most: number };
  /** How far the clocks of the processes are from the true time at most, ms. */
  clockError: number;
  isolation: "serializable" | undefined;
  faults: FaultPlan;
  pages: PagesPlan;
  /** How long callers go on, ms. */
  duration: number;
}

/** Changes to a scenario, to find what a failure needs. */
export interface Cut {
  database?: DatabaseKind;
  processes?: number;
  pages?: number;
  duration?: number;
  /** Faults that must not happen, and workloads that get no callers. */
  without?: readonly string[];
}

export function scenarioOf(seed: number, cut: Cut = {}): Scenario {
  const random = createRandom(seed);
  const hasFaults = random.chance(0.7);
  const far = random.chance(0.25);
  const processes = random.between(1, 4);
  const scenario: Scenario = {
    seed,
    // Uses a generator of its own, so that the rest of a seed stays as it is.
    database: cut.database ?? createRandom(seed ^ 0x3c6ef372).pick(DATABASES),
    processes,
    callers: {
      shared: random.between(0, 4),
      alone: random.between(1, 3),
      live: random.between(0, 4),
      waits: hasFaults ? 0 : random.between(0, 2),
      crowd: random.chance(0.2) ? random.pick([20, 100, 400]) : 0,
      tiers: 0,
      months: 0,
      closing: 0,
      prunes: 0,
      leases: 0,
      retries: 0,
      credits: 0,
      slots: 0,
      rivals: 0,
      holds: 0,
      metered: 0,
      plans: 0,
      warned: 0,
    },
    pool: random.pick([2, 3, 5, 10]),
    delay: far ? { least: 20, most: 60 } : { least: 0.05, most: random.pick([0.5, 3]) },
    clockError: random.pick([0, 0, 50, 3_600_000]),
    isolation: random.chance(0.15) ? "serializable" : undefined,
    faults: hasFaults ? faultsOf(random, processes === 1) : { perStatement: {}, every: {} },
    pages: pagesOf(seed),
    duration: random.between(5, 40) * 1000,
  };
  addLater(scenario, createRandom(seed ^ 0x27d4eb2f), hasFaults);
  addLeases(scenario, createRandom(seed ^ 0x2545f491), hasFaults);
  addRetries(scenario, createRandom(seed ^ 0x9e3779b9));
  addCredits(scenario, createRandom(seed ^ 0x1b873593));
  addSlots(scenario, createRandom(seed ^ 0x85ebca6b));
  addRivals(scenario, createRandom(seed ^ 0xc2b2ae35));
  addHolds(scenario, createRandom(seed ^ 0x9b05688c));
  addMetered(scenario, createRandom(seed ^ 0x5be0cd19));
  addPlans(scenario, createRandom(seed ^ 0x1f83d9ab));
  addWarned(scenario, createRandom(seed ^ 0x510e527f));
  const { duration = scenario.duration, without = [] } = cut;
  for (const fault of without) {
    for (const { perStatement, every } of [scenario.faults, scenario.pages.faults]) {
      delete perStatement[fault as keyof FaultPlan["perStatement"]];
      delete every[fault as keyof FaultPlan["every"]];
    }
    if (fault in scenario.callers) scenario.callers[fault as keyof Scenario["callers"]] = 0;
  }
  scenario.pages.count = cut.pages ?? scenario.pages.count;
  return { ...scenario, processes: cut.processes ?? processes, duration };
}

/**
 * Adds faults and workloads that were written later. These additions have a generator of their own, so
 * that the rest of a seed stays as it is.
 */
function addLater(scenario: Scenario, random: Random, hasFaults: boolean): void {
  const hasIdle = random.chance(0.25);
  const every = random.between(100, 3000);
  if (hasFaults && hasIdle && !isCalm(scenario)) {
    scenario.faults.every["idle connections broken"] = every;
  }
  for (const workload of ["tiers", "months", "closing", "prunes"] as const) {
    scenario.callers[workload] = random.chance(0.15) ? 1 : 0;
  }
}

/** Nothing else changes in a scenario without leases. */
function addLeases(scenario: Scenario, random: Random, hasFaults: boolean): void {
  const count = random.chance(0.2) ? random.between(1, 4) : 0;
  const sleeps = random.chance(0.6) && hasFaults && !isCalm(scenario);
  const every = random.between(500, 3000);
  scenario.callers.leases = count;
  if (count > 0 && sleeps) scenario.faults.every["sleeping process"] = every;
}

/** Changes nothing else in a scenario without retries. */
function addRetries(scenario: Scenario, random: Random): void {
  scenario.callers.retries = random.chance(0.15) ? random.between(1, 2) : 0;
}

/**
 * These callers read what is left. After a failover, the old server might answer a read, so they get
 * none.
 */
function addCredits({ callers, faults }: Scenario, random: Random): void {
  const failsOver = Object.keys(faults.every).some((fault) => fault.startsWith("failover"));
  callers.credits = random.chance(0.25) && !failsOver ? 1 : 0;
}

/** No slots if a machine sleeps: the monotonic clock of a holder stands still meanwhile. */
function addSlots({ callers, faults }: Scenario, random: Random): void {
  const count = random.chance(0.25) ? random.between(2, 5) : 0;
  callers.slots = "sleeping process" in faults.every ? 0 : count;
}

/** One caller in each process, because a process sends its own calls together. */
function addRivals({ callers, processes }: Scenario, random: Random): void {
  callers.rivals = random.chance(0.25) && processes > 1 ? 1 : 0;
}

/** Changes nothing else in a scenario without holds. */
function addHolds(scenario: Scenario, random: Random): void {
  scenario.callers.holds = random.chance(0.2) ? random.between(1, 3) : 0;
}

/** Changes nothing else in a scenario without usage. */
function addMetered(scenario: Scenario, random: Random): void {
  scenario.callers.metered = random.chance(0.2) ? random.between(1, 2) : 0;
}

/** Changes nothing else in a scenario without plans. */
function addPlans(scenario: Scenario, random: Random): void {
  scenario.callers.plans = random.chance(0.2) ? random.between(1, 2) : 0;
}

/** Changes nothing else in a scenario without warnings. */
function addWarned(scenario: Scenario, random: Random): void {
  scenario.callers.warned = random.chance(0.2) ? random.between(1, 2) : 0;
}

/** Whether no call may fail. */
export function isCalm({ processes, delay, faults: { perStatement, every } }: Scenario): boolean {
  // With a long delay, so many transactions on so few rows take longer than calls wait.
  if (delay.least > 1) return false;
  const harmless = new Set(["busy process", "process clock set", "database clock set"]);
  // A frozen process may hold rows, which delays only other processes.
  if (processes === 1) harmless.add("frozen process");
  return [...Object.keys(perStatement), ...Object.keys(every)].every((name) => harmless.has(name));
}

/** Few kinds of faults at a time: with all kinds at once, few calls would succeed. */
function faultsOf(random: Random, isAlone: boolean): FaultPlan {
  // A busy process and changed clocks must not make a call fail.
  if (random.chance(0.15)) {
    const every: FaultPlan["every"] = { "busy process": 1500, "process clock set": 3000 };
    return { perStatement: {}, every: isAlone ? { ...every, "frozen process": 4000 } : every };
  }
  const perStatement: FaultPlan["perStatement"] = {};
  const every: FaultPlan["every"] = {};
  const some = <TName extends string>(names: readonly TName[], chance: number) =>
    names.filter(() => random.chance(chance));
  const ofStatements = [
    "slow request",
    "slow answer",
    "reset before",
    "reset after",
    "silent before",
    "silent after",
  ] as const;
  for (const fault of some(ofStatements, 0.3))
    perStatement[fault] = random.pick([0.001, 0.01, 0.05]);
  const ofHosts = [
    "busy process",
    "frozen process",
    "killed process",
    "process clock set",
    "frozen database",
    "failover",
    "held rows",
  ] as const;
  for (const fault of some(ofHosts, 0.25)) every[fault] = random.between(500, 8000);
  // Lost commits and changed database clocks prevent exact checks. So each comes without the other.
  const dice = random.next();
  if (dice < 0.1) every["failover with loss"] = random.between(200, 4000);
  else if (dice < 0.2) every["database clock set"] = random.between(600, 6000);
  return { perStatement, every };
}
