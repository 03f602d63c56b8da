/** The faults that do not belong to one statement. */
import type { Fault } from "./faults.js";
import { createRandom, type Random } from "./random.js";
import { createServer } from "./databases.js";
import type { World } from "./simulate.js";
import { EPOCH } from "./process.js";

export function planFaults(world: World, shared: Random): void {
  const { scenario, timeline, faults } = world;
  for (const [fault, every] of Object.entries(scenario.faults.every) as [Fault, number][]) {
    const later = LATER[fault];
    const random = later === undefined ? shared : createRandom(scenario.seed ^ later);
    const next = () => {
      timeline.plan(every * (0.2 + 1.6 * random.next()), () => {
        if (!world.isOn) return;
        faults.note(fault);
        HAPPEN[fault]!(world, random);
        next();
      });
    };
    next();
  }
}

/**
 * Faults that were added later have a generator of their own, so that they do not change the other
 * faults.
 */
const LATER: Partial<Record<Fault, number>> = {
  "idle connections broken": 0x1f83d9ab,
  "sleeping process": 0x3ad8025f,
};

type Happen = (world: World, random: Random) => void;

const HAPPEN: Partial<Record<Fault, Happen>> = {
  "busy process": (world, random) => pause(world, random, random.between(5, 800)),
  "frozen process": (world, random) => pause(world, random, random.between(1000, 8000)),
  "killed process"({ members, network, pages }, random) {
    const victim = random.pick(members.running);
    victim.process.kill();
    members.running = members.running.filter((each) => each !== victim);
    network.forget(victim.process);
    members.add();
    pages?.web.forgetHost(victim.process);
  },
  "sleeping process"({ members, timeline }, random) {
    const member = random.pick(members.running);
    // A store notices that its clock is in doubt after more than a second.
    const ms = random.between(1100, 3000);
    member.process.sleep(ms);
    member.pausedUntil = timeline.now + 3 * ms + 100;
  },
  "process clock set"({ members }, random) {
    const { process } = random.pick(members.running);
    process.clockError += random.pick([-3_600_000, -2000, 2000, 3_600_000]);
  },
  "database clock set"(world, random) {
    world.databaseClockError += random.pick([-5000, 5000]);
  },
  "frozen database"({ network, timeline }, random) {
    network.frozenUntil = timeline.now + random.between(100, 6000);
  },
  failover: (world, random) => failOver(world, random, 0),
  "failover with loss": (world, random) => {
    world.hasLost = true;
    failOver(world, random, random.between(1, 500));
  },
  "held rows"({ network, timeline }, random) {
    const { rows } = network.server;
    const ids = rows.all().map(([id]) => id);
    if (ids.length === 0) return;
    // A transaction of another application locks the row of some limit.
    timeline.plan(random.between(20, 4000), network.server.hold(random.pick(ids)));
  },
  "idle connections broken": ({ network }) => network.reset(({ isIdle }) => isIdle),
};

function pause({ members, timeline }: World, random: Random, ms: number): void {
  const member = random.pick(members.running);
  member.process.pause(ms);
  // The events that the process has missed come all at once, and its timers may wait once more.
  member.pausedUntil = timeline.now + 3 * ms + 100;
}

/** @param lost how much older the state of the new server is, ms. */
function failOver(world: World, random: Random, lost: number): void {
  const { network, timeline } = world;
  const clock = () => EPOCH + timeline.now + world.databaseClockError;
  const next = createServer(world.scenario.database, timeline, clock);
  const old = network.server;
  const rows = old.rows.snapshot();
  const happen = () => {
    next.rows.restore(lost > 0 ? rows : old.rows.snapshot());
    // The old server accepts no writes any more.
    old.isReadOnly = true;
    network.server = next;
    network.refusedUntil = timeline.now + random.between(0, 3000);
    const dice = random.next();
    if (dice < 0.4) network.silence(() => true);
    else if (dice < 0.8) network.reset();
    // In the remaining cases, the old server's connections stay open, and refuse writes.
  };
  if (lost === 0) happen();
  else timeline.plan(lost, happen);
}
