/** What a limiter asks of a store, as decisions: `core`'s arithmetic over the rows it concerns. */
import type { RateLimitState } from "../core/calculate.js";
import { firstWhole } from "../core/calculate.js";
import type { RateLimitConfig } from "../core/config.js";
import { decideRateLimit, floorOf, grantOf, type RateLimitResult } from "../core/decide.js";
import { refundRateLimit } from "../core/refund.js";
import { decideShardPair, fullestShards, sumShards } from "../core/shards.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import type { Decision, Outcome, PlainTake, RowId } from "./store/store.js";
import { allRows, rowOf, type Target } from "./targets.js";

/** What is wanted of a target. */
export interface Wanted {
  target: Target;
  count: number;
  reserve: boolean;
  /** The longest that a reservation may have to wait, ms; a longer one is denied. */
  maxWait: number | undefined;
}

/** Both may be called more than once per decision. */
export interface Environment {
  clock(): number;
  random(): number;
}

/**
 * Takes what is wanted of one target. A class, because hundreds of calls may wait at a time: an
 * object of few fields where a closure would keep more alive, for the garbage collector to copy.
 */
export class Take implements Wanted, Decision<RateLimitResult>, PlainTake<RateLimitResult> {
  readonly rows: readonly RowId[];
  /** When the decision that counts was made, by the limiter's clock, epoch ms. */
  now = 0;

  constructor(
    readonly target: Target,
    readonly count: number,
    readonly reserve: boolean,
    readonly maxWait: number | undefined,
    readonly readOnly: boolean,
    private readonly environment: Environment,
  ) {
    this.rows = pickRows(target, environment.random);
  }

  /** A bounded wait is left to `decide`, because no statement can tell how long a wait will be. */
  get plain(): this | undefined {
    const { target, count, maxWait = Infinity } = this;
    return target.isPlain && count > 0 && maxWait === Infinity ? this : undefined;
  }

  get config(): RateLimitConfig {
    return this.target.part;
  }

  get floor(): number {
    return floorOf(this.target.part, this.reserve);
  }

  get clock(): () => number {
    return this.environment.clock;
  }

  granted(next: RateLimitState, later: number, now: number): RateLimitResult {
    this.now = now;
    return grantOf(next, this.target.part, now, later);
  }

  decide(states: readonly (RateLimitState | null)[]): Outcome<RateLimitResult> {
    this.now = this.environment.clock();
    const { result, next } = takeOne(this, states, this.now);
    const writes = !this.readOnly && result.ok && this.count > 0;
    return { result, writes: writes ? next : undefined };
  }
}

export interface AllDecided {
  /** One per target. When one is denied, what each would get in its turn. */
  results: RateLimitResult[];
  ok: boolean;
  /** Of the whole; 0 when it passed without reservations. */
  retryAfter: number;
  now: number;
}

/** Takes what is wanted of every target, or nothing at all. */
export function takeAll(
  wanted: readonly Wanted[],
  { clock, random }: Environment,
): Decision<AllDecided> {
  const steps = wanted.map((want) => ({ want, rows: pickRows(want.target, random) }));
  // Two targets can be the same row, and then the second one sees what the first one left.
  const slots = slotsOf(steps.flatMap((step) => step.rows));

  return {
    rows: slots.rows,
    decide(states) {
      const now = clock();
      const attempt = (at: number) => {
        const current = [...states];
        const results = steps.map(({ want, rows }) => {
          const indexes = rows.map(slots.indexOf);
          const seen = indexes.map((i) => current[i] ?? null);
          const { result, next } = takeOne(want, seen, at);
          if (want.count > 0) {
            for (const [i, state] of next.entries()) if (state) current[indexes[i]!] = state;
          }
          return result;
        });
        return { results, current, ok: results.every(({ ok }) => ok) };
      };
      const { results, current, ok } = attempt(now);
      const longest = Math.max(...results.map(({ retryAfter = 0 }) => retryAfter));
      // On separate rows the longest wait is that of all; where rows meet, it is a first guess.
      const retryAfter = ok ? longest : firstWhole(longest, (ms) => attempt(now + ms).ok);
      const outcome = { result: { results, ok, retryAfter, now } };
      if (!ok) return outcome;
      const writes = current.map((state, i) => (state === states[i] ? undefined : state));
      return { ...outcome, writes };
    },
  };
}

function takeOne(
  { target: { config, part }, count, reserve, maxWait = Infinity }: Wanted,
  states: readonly (RateLimitState | null)[],
  now: number,
): { result: RateLimitResult; next: readonly (RateLimitState | undefined)[] } {
  let result: RateLimitResult;
  let next: readonly (RateLimitState | undefined)[];
  if (config.shards === undefined || config.shards === 1) {
    const decided = decideRateLimit(states[0] ?? null, part, now, count, reserve);
    result = decided.result;
    next = [decided.next];
  } else {
    const pair = [states[0] ?? null, states[1] ?? null] as const;
    ({ result, next } = decideShardPair(pair, part, now, count, reserve));
  }
  if (!result.ok || (result.retryAfter ?? 0) <= maxWait) return { result, next };
  // One ms later, the same reservation would have to wait one ms less.
  const wait = Math.ceil(result.retryAfter! - maxWait);
  return { result: { ok: false, retryAfter: wait, value: result.value + count }, next: [] };
}

/** Forgets what was taken: a row that does not exist is full, whatever its limit's config. */
export function resetRow(row: RowId): Decision<void> {
  return {
    rows: [row],
    decide: ([state]) => ({ result: undefined, ...(state && { writes: [null] }) }),
  };
}

/** Gives tokens back to rows of a limit. What they have no room for is `left`. */
export function refund(
  { part }: Target,
  rows: readonly RowId[],
  count: number,
  { clock }: Pick<Environment, "clock">,
): Decision<{ value: number; left: number }> {
  return {
    rows,
    decide(states) {
      const { next, ...result } = refundRateLimit(states, part, clock(), count);
      return { result, writes: next };
    },
  };
}

/** Reads all shards of a limit: the row itself where there is one, else their sum. */
export function readState(
  target: Target,
  { clock }: Pick<Environment, "clock">,
): Decision<RateLimitState & Pick<RateLimitSnapshot, "fullest" | "now">> {
  const { config } = target;
  const { shards = 1 } = config;
  return {
    rows: allRows(target),
    readOnly: true,
    decide(states) {
      const now = clock();
      const [only] = states;
      const { value, ts } = shards === 1 && only ? only : sumShards(states, config, now);
      const fullest = shards > 1 && { fullest: fullestShards(states, config, now) };
      return { result: { value, ts, ...fullest, now } };
    },
  };
}

/** The rows that a call sees: the only one, or two of the shards. */
export function pickRows(target: Target, random: () => number): readonly RowId[] {
  const { shards = 1 } = target.config;
  return shards === 1 ? target.rows : pickTwo(shards, random).map((shard) => rowOf(target, shard));
}

/** Two different shards, each pair equally likely. */
function pickTwo(shards: number, random: () => number): [number, number] {
  const first = Math.floor(random() * shards);
  const second = (first + 1 + Math.floor(random() * (shards - 1))) % shards;
  return [first, second];
}

/** The distinct rows among these, and where each of them is. */
function slotsOf(all: readonly RowId[]) {
  const rows: RowId[] = [];
  const indexes = new Map<RowId, number>();
  for (const row of all) {
    const same = rows.findIndex(
      ({ name, key, shard }) => name === row.name && key === row.key && shard === row.shard,
    );
    indexes.set(row, same === -1 ? rows.push(row) - 1 : same);
  }
  return { rows, indexOf: (row: RowId) => indexes.get(row)! };
}
