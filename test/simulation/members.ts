/** The processes of a simulation, with their limiters, pools and callers. */
import { Process } from "./process.js";
import { createRandom, type Random } from "./random.js";
import type { StartShipped } from "./shipped.js";
import { isCalm } from "./scenario.js";
import type { World } from "./simulate.js";
import { type Backend, createBackend } from "./databases.js";
import { alone } from "./workloads/alone.js";
import type { LimitConfigs } from "../../server/index.js";
import { type Caller, FROZEN, type Member, SHOWN, type Workload } from "./workloads/context.js";
import { closing } from "./workloads/closing.js";
import { credits } from "./workloads/credits.js";
import { createCrowd } from "./workloads/crowd.js";
import { createHolds } from "./workloads/holds.js";
import { createLeases } from "./workloads/leases.js";
import { createLive, waits } from "./workloads/live.js";
import { createMetered } from "./workloads/metered.js";
import { months } from "./workloads/months.js";
import { createPlans } from "./workloads/plans.js";
import { prunes } from "./workloads/prunes.js";
import { createRetries } from "./workloads/retries.js";
import { createRivals } from "./workloads/rivals.js";
import { shared } from "./workloads/shared.js";
import { createSlots } from "./workloads/slots.js";
import { tiers } from "./workloads/tiers.js";
import { createWarned } from "./workloads/warned.js";

export interface Running extends Member {
  pool: Backend["pool"];
  /** The number of callers that have not ended. */
  callers: number;
  /** Until when the process was last busy or stopped, ms. */
  pausedUntil: number;
}

export interface Members {
  running: Running[];
  all: Running[];
  /** Adds another process in the place of a killed one. */
  add(): void;
}

/** Epoch ms. Nothing refills on a clock that stands still. */
const FROZEN_AT = Date.UTC(2030, 0, 1);

export function createMembers(world: World, start: StartShipped, random: Random): Members {
  const { scenario, timeline, network } = world;
  const workloads: [Workload, number][] = [
    [shared, scenario.callers.shared],
    [alone, scenario.callers.alone],
    [createLive(world.grants), scenario.callers.live],
    [waits, scenario.callers.waits],
    [createCrowd(world.crowd), scenario.callers.crowd],
  ];
  // Workloads that were added later have a generator of their own, so that they do not change the other
  // workloads.
  const laterRandom = createRandom(scenario.seed ^ 0x165667b1);
  const later: typeof workloads = [
    [tiers, scenario.callers.tiers],
    [months, scenario.callers.months],
    [closing, scenario.callers.closing],
    [prunes, scenario.callers.prunes],
    [createLeases(world.leased, scenario), scenario.callers.leases],
    [createRetries(world.retried), scenario.callers.retries],
    [credits, scenario.callers.credits],
    [createSlots(world.held, scenario.seed), scenario.callers.slots],
    [createRivals(world.rivals), scenario.callers.rivals],
    [createHolds(world.holding, scenario), scenario.callers.holds],
    [createMetered(world.metered), scenario.callers.metered],
    [createPlans(world.plans), scenario.callers.plans],
    [createWarned(world.warned), scenario.callers.warned],
  ];
  const members: Members = {
    running: [],
    all: [],
    add() {
      const clockError = (2 * random.next() - 1) * scenario.clockError;
      const process = new Process({ timeline, random: random.fork(), clockError });
      const shipped = start(process.globals());
      const { pool, store, borrow } = createBackend(scenario, shipped, network, process);
      const globals = process.globals() as unknown as Pick<typeof globalThis, "setTimeout">;
      const member: Running = {
        id: `p${members.all.length}`,
        process,
        shipped,
        pool,
        callers: 0,
        pausedUntil: 0,
        frozen: shipped.createRateLimiter({
          store,
          limits: FROZEN,
          clock: () => FROZEN_AT,
          logger: false,
        }),
        live: shipped.createRateLimiter({ store, limits: SHOWN, logger: false }),
        limiter: (limits, clock, autoPrune, flushUsage) =>
          shipped.createRateLimiter({
            store,
            limits,
            plans: plansOf(limits),
            logger: false,
            ...(clock && { clock }),
            ...(autoPrune && { autoPrune }),
            ...(flushUsage && { flushUsage }),
          }),
        borrow: () =>
          borrow().catch((error: Error) => {
            throw Object.assign(error, { kind: "StoreFailure" });
          }),
        sleep: (ms) => new Promise((resolve) => void globals.setTimeout(() => resolve(), ms)),
      };
      members.running.push(member);
      members.all.push(member);
      for (const [workload, count] of workloads) {
        for (let i = 0; i < count; i++) startCaller(world, member, random.fork(), workload);
      }
      for (const [workload, count] of later) {
        for (let i = 0; i < count; i++) startCaller(world, member, laterRandom.fork(), workload);
      }
    },
  };
  for (let i = 0; i < scenario.processes; i++) members.add();
  return members;
}

/** The names of the plans that limits have. */
function plansOf(limits: LimitConfigs): string[] {
  const all = Object.values(limits).flatMap((limit) =>
    "plans" in limit ? Object.keys(limit.plans) : [],
  );
  return [...new Set(all)];
}

function startCaller(world: World, member: Running, random: Random, workload: Workload): void {
  const { timeline } = world;
  const report = (problem: string) => {
    world.problems.push(`${problem} (${member.id}, at ${timeline.now.toFixed(2)} ms)`);
  };
  const caller: Caller = {
    member,
    timeline,
    random,
    isCalm: isCalm(world.scenario),
    hasLost: () => world.hasLost,
    clockError: 6 * world.scenario.delay.most + 5,
    isOn: () => world.isOn,
    report,
    tally: world.calls,
    history: world.history,
    quiet(key) {
      const interval = { key, from: timeline.now, to: Infinity };
      world.quiet.push(interval);
      return { end: () => (interval.to = timeline.now) };
    },
    failed: (error, what) => void world.failures.set(what, error),
    async timed(what, most, call) {
      const begunAt = timeline.now;
      try {
        return await call();
      } finally {
        const took = timeline.now - begunAt;
        const wasPaused = member.pausedUntil >= begunAt;
        if (took > most + 60 && !wasPaused) report(`${what} took ${took.toFixed(0)} ms`);
      }
    },
  };
  member.callers++;
  member.process.read(() => {
    workload(caller).then(
      () => member.callers--,
      (error: unknown) => {
        member.callers--;
        report(`a caller failed: ${String(error)} ${(error as Error).stack ?? ""}`);
      },
    );
  });
}
