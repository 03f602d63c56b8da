/** One simulation. Its seed decides everything that happens. */
import { check as checkAll } from "./invariants.js";
import { checkHoldRows } from "./hold-invariants.js";
import { type Fault, Tally } from "./faults.js";
import { planFaults } from "./plan-faults.js";
import { createServer } from "./databases.js";
import { Network } from "./network.js";
import { EPOCH } from "./process.js";
import { createRandom } from "./random.js";
import { type Cut, type Scenario, scenarioOf } from "./scenario.js";
import type { StartShipped } from "./shipped.js";
import { settle, Timeline } from "./timeline.js";
import { createMembers, type Members } from "./members.js";
import { createPages, type Pages } from "./pages/pages.js";
import type { Taken } from "./workloads/crowd.js";
import type { Retried } from "./workloads/retries.js";
import type { Metered } from "./workloads/metered.js";
import type { PlanUse } from "./workloads/plans.js";
import { drainHolds, type Holding } from "./workloads/holds.js";
import type { Rivals } from "./workloads/rivals.js";
import type { Held } from "./workloads/slots.js";
import { problemOfCommit, type Warned } from "./workloads/warned.js";
import type { Grant } from "./workloads/live.js";
import type { RecordedEvent } from "../histories/lease-caller.js";
import type { Operation } from "../histories/operation.js";

export interface World {
  scenario: Scenario;
  timeline: Timeline;
  network: Network;
  members: Members;
  /** `undefined`: the simulation has no pages. */
  pages: Pages | undefined;
  history: Operation[];
  grants: Grant[];
  /** The events of buckets with leases. */
  leased: RecordedEvent[];
  problems: string[];
  faults: Tally<Fault>;
  calls: Tally<string>;
  /** Writes of buckets that only one caller uses: the key, and when the statement was sent. */
  ownWrites: { key: string; sentAt: number }[];
  /** When the caller of such a bucket had no call under way after a failed call. */
  quiet: { key: string; from: number; to: number }[];
  /** The tokens that the crowd has taken, by key. */
  crowd: Map<string, Taken>;
  /** The charges of each id. */
  retried: Retried;
  /** The calls on pairs of buckets. */
  rivals: Rivals;
  /** The spans in which callers held slots. */
  held: Held[];
  /** The calls of holds, and what was left. */
  holding: Holding;
  /** The answers that calls on a limit with usage got. */
  metered: Metered[];
  /** The tokens that calls by two plans have used, by key. */
  plans: Map<string, PlanUse>;
  /** The warnings that were written, and those that were told. */
  warned: Warned;
  /** Calls that failed because of the store, by the name of the call. */
  failures: Map<string, unknown>;
  /** By how much the clock of the database was set, ms. */
  databaseClockError: number;
  /** Whether commits were lost by a failover. */
  hasLost: boolean;
  isOn: boolean;
}

export interface Report {
  scenario: Scenario;
  problems: string[];
  faults: Tally<Fault>;
  calls: Tally<string>;
  events: number;
  /** Counts of what happened inside. */
  reached: Tally<string>;
}

/** How long the simulation waits until everything rests, ms. No fault happens meanwhile. */
const REST = 180_000;

export async function simulate(start: StartShipped, seed: number, cut?: Cut): Promise<Report> {
  const scenario = scenarioOf(seed, cut);
  const random = createRandom(seed ^ 0x5bd1e995);
  const timeline = new Timeline();
  const faults = new Tally<Fault>();
  const server = createServer(
    scenario.database,
    timeline,
    () => EPOCH + timeline.now + world.databaseClockError,
  );
  const network = new Network(server, {
    timeline,
    random: random.fork(),
    delay: scenario.delay,
    plan: scenario.faults,
    tally: faults,
  });
  const world: World = {
    scenario,
    timeline,
    network,
    members: undefined as unknown as Members,
    pages: undefined,
    history: [],
    grants: [],
    leased: [],
    problems: [],
    faults,
    calls: new Tally(),
    ownWrites: [],
    quiet: [],
    crowd: new Map(),
    retried: new Map(),
    rivals: new Map(),
    held: [],
    holding: { calls: [], left: new Map() },
    metered: [],
    plans: new Map(),
    warned: { written: new Map(), told: new Set() },
    failures: new Map(),
    databaseClockError: 0,
    hasLost: false,
    isOn: true,
  };
  network.onCommit = (tx) => {
    const { writes, writtenBy } = tx;
    checkHoldRows(world, tx);
    const problem = problemOfCommit(world.warned, tx);
    if (problem !== undefined && !world.hasLost) world.problems.push(problem);
    for (const [id, sentAt] of writtenBy) {
      // Any caller's prune may delete full rows of all callers.
      if (writes.get(id) === null) continue;
      const key = id.split("\0")[1]!;
      if (key.startsWith("own ")) world.ownWrites.push({ key, sentAt });
    }
  };
  world.members = createMembers(world, start, random.fork());
  planFaults(world, random.fork());
  if (scenario.pages.count > 0) world.pages = createPages(world, start);
  try {
    await timeline.run(scenario.duration);
    world.isOn = false;
    network.isFaulty = false;
    world.pages?.finish();
    await timeline.run(scenario.duration + REST / 2);
    probe(world);
    drainHolds(world);
    await timeline.run(scenario.duration + REST);
  } catch (error) {
    world.problems.push(String(error));
  }
  await settle();
  const reached = checkAll(world);
  return {
    scenario,
    problems: world.problems,
    faults,
    calls: world.calls,
    events: timeline.events,
    reached,
  };
}

/**
 * When no fault happens any more, every process serves again. A connection to a server that has become
 * read-only is noticed only when it is used, so each connection may cost a call.
 */
function probe({ members, problems }: World): void {
  for (const { id, process, live, pool } of members.running) {
    const call = async () => {
      for (let left = pool.max; ; left--) {
        try {
          const { ok } = await live.limit("quick", { key: `probe ${id}` });
          if (!ok) problems.push(`${id} denies the first call on a new key`);
          return;
        } catch (error) {
          if (left > 0) continue;
          problems.push(`${id} does not serve again: ${String(error)}`);
          return;
        }
      }
    };
    process.read(() => void call());
  }
}
