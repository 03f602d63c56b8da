/**
 * Several processes lease one row, in virtual time: a take is sent, decided and answered at three
 * different instants. In every schedule, the processes grant no more than a limit without leases. Three
 * variants that look as good grant more.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { usedAt } from "../../../core/rows/reading.js";
import { capacityOf, floorOf, type PeriodicConfig } from "../../../core/config.js";
import { takeTokens } from "../../../core/decide.js";
import type { Row } from "../../../core/rows/row.js";
import { mostWindowsBetween } from "../../../core/windows.js";
import type { Block } from "../../../server/leases/block.js";
import { BlockTake, type BlockTaken } from "../../../server/leases/block-take.js";
import type { Instant } from "../../../server/leases/clocks.js";
import { Lease } from "../../../server/leases/lease.js";
import { leaseTerms, type LeaseTerms } from "../../../server/leases/lease-terms.js";
import { rowId } from "../../../server/store/store.js";
import { cases } from "../../support/cases.js";

const EPOCH = Date.UTC(2030, 0, 1);

interface Variant {
  /** Blocks are taken from the whole capacity: nothing has to be used before. */
  fromAll?: boolean;
  /** What is left of a block goes back to the row. */
  givesBack?: boolean;
  /** Blocks live on for as long again. */
  prolongs?: boolean;
}

type Step =
  | { do: "call" | "fetch"; process: number; count: number }
  | { do: "decide" | "answer"; process: number }
  | { do: "wait"; ms: number };

interface Setting {
  config: PeriodicConfig;
  ms: number;
  steps: readonly Step[];
}

class Member {
  readonly lease: Lease;
  readonly blocks: Block[] = [];
  flight:
    { take: BlockTake; at: Instant; count: number; taken?: BlockTaken | undefined } | undefined;

  constructor(terms: LeaseTerms, clock: () => number) {
    this.lease = new Lease(terms, {
      monotonic: clock,
      wall: clock,
      limiter: clock,
      behind: () => 0,
    });
  }
}

/** The instants and counts of all grants. */
function run({ config, ms, steps }: Setting, variant: Variant = {}) {
  let now = EPOCH;
  let row: Row | null = null;
  let leased = 0;
  const grants: { at: number; count: number }[] = [];
  const grant = (count: number) => grants.push({ at: now, count });
  const strict = leaseTerms(config, ms);
  const terms = variant.fromAll ? { ...strict, least: 0 } : strict;
  const floor = floorOf(config, false);
  const limit = {
    rows: [rowId("l", "k", 0, config)] as const,
    part: config,
    floor,
    isPlain: true,
    lease: terms,
  };
  const members = [0, 1, 2].map(() => new Member(terms, () => now));

  function call(member: Member, count: number): void {
    const { lease } = member;
    if (lease.take(count) !== undefined) {
      leased++;
      return void grant(count);
    }
    const next = takeTokens(row, config, now, count, floor);
    if (next === undefined) return;
    row = next;
    grant(count);
  }

  /** Of any size: what is granted must not depend on how sizes are chosen. */
  function fetch(member: Member, count: number, size: number): void {
    if (member.flight !== undefined) return;
    const sizeAt = (level: number) => Math.min(size, Math.floor(level));
    const take = new BlockTake(limit, count, size, sizeAt, () => now);
    member.flight = { take, at: member.lease.instant(), count };
  }

  function decide({ flight }: Member): void {
    if (flight === undefined || flight.taken !== undefined) return;
    const { result, writes } = flight.take.decide([row]);
    flight.taken = result;
    if (result.size === 0) return;
    row = writes![0]!;
    grant(flight.count);
  }

  function answer(member: Member): void {
    const { flight, lease } = member;
    if (flight?.taken === undefined) return;
    member.flight = undefined;
    if (flight.taken.size === 0) return;
    const block = variant.prolongs
      ? prolonged(lease, flight.taken, flight.at)
      : lease.blockOf(flight.taken, flight.at);
    block.take(flight.count);
    member.blocks.push(block);
    if (block.isLiving()) lease.add(block);
  }

  function prolonged(lease: Lease, taken: BlockTaken, { monotonic, wall, limiter }: Instant) {
    if (config.kind === "fixed window") {
      const { value, ts } = taken.row;
      return lease.blockOf(
        { ...taken, row: { value, ts: ts + config.period } },
        {
          monotonic: monotonic + config.period,
          wall: wall + config.period,
          limiter,
        },
      );
    }
    const later = { monotonic: monotonic + ms, wall: wall + ms, limiter };
    return lease.blockOf({ ...taken, now: taken.now + ms }, later);
  }

  function giveBack({ blocks }: Member): void {
    for (const block of blocks) {
      if (block.isLiving()) continue;
      const { used, ts } = usedAt(row, config, now);
      row = { used: Math.max(0, used - block.remaining), ts };
      block.remaining = 0;
    }
  }

  for (const step of steps) {
    if (step.do === "wait") now += step.ms;
    else {
      const member = members[step.process]!;
      if (step.do === "call") call(member, step.count);
      if (step.do === "fetch") fetch(member, step.count % 3, 4 + step.count);
      if (step.do === "decide") decide(member);
      if (step.do === "answer") answer(member);
    }
    if (variant.givesBack) members.forEach(giveBack);
  }
  for (const member of members) for (let i = 0; i < 200; i++) call(member, 1);
  return { grants, leased };
}

/** By how many tokens the grants of some span exceed what the limit allows in it. */
function excess(config: PeriodicConfig, grants: readonly { at: number; count: number }[]): number {
  let most = 0;
  for (const [i, first] of grants.entries()) {
    let sum = 0;
    for (const { at, count } of grants.slice(i)) {
      sum += count;
      const refilled =
        config.kind === "fixed window"
          ? mostWindowsBetween(config, startOf(config, first.at), startOf(config, at)) * config.rate
          : ((at - first.at) * config.rate) / config.period;
      most = Math.max(most, sum - capacityOf(config) - refilled);
    }
  }
  return most;
}

function startOf({ period }: PeriodicConfig, at: number): number {
  return Math.floor(at / period) * period;
}

const process = fc.nat(2);
const counted = (kind: "call" | "fetch", max: number) =>
  fc.record({ do: fc.constant(kind), process, count: fc.nat(max) });
const plain = (kind: "decide" | "answer") => fc.record({ do: fc.constant(kind), process });
const steps = fc.array(
  fc.oneof(
    counted("call", 12),
    counted("fetch", 40),
    plain("decide"),
    plain("answer"),
    fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 60 }) }),
  ),
  { minLength: 5, maxLength: 40 },
);

const buckets = fc.record({
  config: fc
    .record({ rate: fc.integer({ min: 5, max: 40 }), room: fc.integer({ min: 10, max: 100 }) })
    .map(({ rate, room }): PeriodicConfig => {
      return { kind: "token bucket", rate, period: 100, capacity: 2 * rate + room };
    }),
  ms: fc.integer({ min: 20, max: 200 }),
  steps,
});

const windows = fc.record({
  config: fc
    .record({ rate: fc.integer({ min: 10, max: 80 }), more: fc.nat(40) })
    .map(({ rate, more }): PeriodicConfig => {
      return { kind: "fixed window", rate, period: 100, capacity: rate + more, start: 0 };
    }),
  ms: fc.integer({ min: 20, max: 200 }),
  steps,
});

/** Whether the variant grants too much in one of many histories. */
function overAdmits(settings: fc.Arbitrary<Setting>, variant: Variant): boolean {
  const details = fc.check(
    fc.property(settings, (setting) => excess(setting.config, run(setting, variant).grants) < 0.5),
    { numRuns: 20_000, endOnFailure: true },
  );
  return details.failed;
}

describe("processes that lease one row", () => {
  it.each([
    ["a token bucket", buckets],
    ["a fixed window", windows],
  ])("never grant more than %s allows in any span", (_, settings) => {
    let leased = 0;
    fc.assert(
      fc.property(settings, (setting) => {
        const { grants, leased: served } = run(setting);
        leased += served;
        expect(excess(setting.config, grants)).toBeLessThan(1e-6);
      }),
      { numRuns: cases(1000) },
    );
    // Otherwise the property says nothing about leases.
    expect(leased).toBeGreaterThan(cases(500));
  });

  it.each<[string, fc.Arbitrary<Setting>, Variant]>([
    ["take blocks from the whole capacity", buckets, { fromAll: true }],
    ["give back what is left of a block", buckets, { givesBack: true }],
    ["prolong a block", buckets, { prolongs: true }],
    ["prolong a block of a window", windows, { prolongs: true }],
  ])("grant too much if they %s", (_, settings, variant) => {
    expect(overAdmits(settings, variant)).toBe(true);
  });
});
