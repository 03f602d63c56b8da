/**
 * The decisions on slots where no caller waits in line: enter a slot, alone or with tokens, renew it and
 * release it. Each attempt is pure, except that it notes the instants that it wrote: an answer may be
 * lost, and the holder has to recognise its own row.
 */
import type { Row } from "../../../core/rows/row.js";
import {
  heldValue,
  isFree,
  isHeldAs,
  isHolder,
  isMarked,
  MAX_NONCE,
  slotsHeld,
  waitForSlot,
} from "../../../core/rows/slot.js";
import type { PlainTake, RowId } from "../../store/store.js";
import type { AllOfAnswer } from "../claims/all-of.js";
import type { Environment } from "../claims/environment.js";
import { type Claim, ClaimDecision, type Draft } from "../claims/draft.js";
import type { SlotsLimit } from "./slots-limit.js";
import type { ItemAnswer } from "../verbs/limit-all-items.js";

/** A slot that a caller holds. */
export interface Holder {
  /** The index of the slot. */
  shard: number;
  /**
   * The value that the holder has written to its row. Where callers wait in line, the row has `inLine` of
   * this value.
   */
  value: number;
  /**
   * The instants at which the holder may have written its row, epoch ms. The row has one of these
   * instants.
   */
  writtenAt: number[];
}

/** The answer to a caller that wants to enter. */
export type Entered =
  | { kind: "entered"; holder: Holder; value: number; now: number }
  | { kind: "denied"; retryAfter: number; value: number; ends: readonly number[]; now: number }
  /** A slot is free, but callers may wait for it: the line has to be read. */
  | { kind: "line" }
  | { kind: "waiting"; place: number };

/**
 * Enters a slot, or is denied. The claim tries one slot that is believed to be free, as a plain take. All
 * slots are read only if that slot is held, or if a larger plan has slots that the caller's plan lacks.
 */
export class EnterClaim implements Claim<Entered>, PlainTake<Entered> {
  readonly rows: readonly RowId[];
  readonly count: number;
  readonly floor: number;
  readonly #isPlain: boolean;
  readonly #value: number;

  constructor(
    private readonly limit: SlotsLimit,
    nonce: number,
    private readonly environment: Pick<Environment, "clock" | "random">,
    /** Whether a call with the same nonce may hold a slot, which this call then takes over. */
    private readonly isNamed = false,
  ) {
    const { rows, counted, seen, ttl } = limit;
    // The one token of a full bucket, and a debt, so that the row then says `#value`.
    this.#value = heldValue(nonce, ttl);
    this.count = 1 - this.#value;
    // The floor is the same for all nonces, so that the calls of a limit share a statement.
    this.floor = heldValue(MAX_NONCE + 1, ttl);
    const now = environment.clock();
    const believed = rows.filter((_, i) => {
      const row = seen[i] ?? null;
      // A plain take never enters a slot with the mark.
      return isFree(row, ttl, now) && !isMarked(row);
    });
    // A plain take looks at one slot alone.
    this.#isPlain = believed.length > 0 && !isNamed && counted.length === rows.length;
    const first = believed[Math.floor(environment.random() * believed.length)];
    this.rows =
      first === undefined || counted.length === 1
        ? counted
        : [first, ...counted.filter((row) => row !== first)];
  }

  get plain(): this | undefined {
    return this.#isPlain ? this : undefined;
  }

  get config(): SlotsLimit["bucket"] {
    return this.limit.bucket;
  }

  get clock(): () => number {
    return this.environment.clock;
  }

  granted(next: Row, _later: number, now: number): Entered {
    const { shard } = this.rows[0]!;
    const { seen, rows, ttl } = this.limit;
    seen[shard] = next;
    // The other slots were not read, so their states are a guess.
    const value = rows.filter((_, i) => isFree(seen[i] ?? null, ttl, now)).length;
    return {
      kind: "entered",
      holder: { shard, value: next.used, writtenAt: [next.ts] },
      value,
      now,
    };
  }

  /**
   * The other slots need no guard, except for a call with an id, and where the slots of a larger plan
   * count: whatever becomes of the others, this slot is free.
   */
  attempt(draft: Draft, now: number): Entered {
    const { seen, ttl, rows, counted } = this.limit;
    const states = this.rows.map((row) => (seen[row.shard] = draft.peek(row)));
    const { value, ends } = slotsHeld(states, ttl, now, rows.length);
    const own = this.isNamed ? heldBefore(this.rows, states, this.#value, ttl, now) : undefined;
    if (own !== undefined) {
      draft.write(own.row, own.next);
      seen[own.row.shard] = own.next;
      const writtenAt = [own.next.ts];
      const holder = { shard: own.row.shard, value: this.#value, writtenAt };
      return { kind: "entered", holder, value, now };
    }
    if (value === 0) {
      return { kind: "denied", retryAfter: waitForSlot(ends, ttl, now), value, ends, now };
    }
    // A slot with the mark may belong to a caller that waits.
    const i = states.findIndex((state, at) => {
      return this.rows[at]!.shard < rows.length && isFree(state, ttl, now) && !isMarked(state);
    });
    if (i === -1) return { kind: "line" };
    // Guards all slots. Another call may enter another slot at the same time: one with the same id would
    // hold two slots, and together with a larger plan's there would be more than the caller's plan has.
    if (this.isNamed || counted.length > rows.length)
      for (const each of this.rows) draft.read(each);
    const row = this.rows[i]!;
    const next = { used: this.#value, ts: now };
    draft.write(row, next);
    seen[row.shard] = next;
    const holder = { shard: row.shard, value: this.#value, writtenAt: [now] };
    return { kind: "entered", holder, value: value - 1, now };
  }
}

/**
 * The slot that an earlier call with the same id holds, and the state of its row once this call has taken
 * it over.
 */
export function heldBefore(
  rows: readonly RowId[],
  states: readonly (Row | null)[],
  held: number,
  ttl: number,
  now: number,
): { row: RowId; next: Row } | undefined {
  const i = states.findIndex((state) => isHeldAs(state, held, ttl, now));
  if (i === -1) return undefined;
  const { used, ts } = states[i]!;
  // The earlier holder recognises its row by the instant, so the new instant has to be another one.
  return { row: rows[i]!, next: { used, ts: Math.max(now, ts + 1) } };
}

/** A slot and tokens: all of it is taken, or nothing. */
export interface SlotAndTokens {
  slot: Entered;
  tokens: AllOfAnswer<ItemAnswer>;
}

export function slotAndTokens(
  slot: Claim<Entered>,
  tokens: Claim<AllOfAnswer<ItemAnswer>>,
): Claim<SlotAndTokens> {
  return {
    rows: [...slot.rows, ...tokens.rows],
    attempt(draft, now) {
      const [ofSlot, ofTokens] = [draft.fork(), draft.fork()];
      const answer = {
        slot: slot.attempt(ofSlot, now),
        tokens: tokens.attempt(ofTokens, now),
      };
      const isEntered = answer.slot.kind === "entered";
      // A denial may close a bucket (`blockFor`), with or without a slot.
      if (!answer.tokens.ok || isEntered) draft.adopt(ofTokens);
      if (answer.tokens.ok && isEntered) draft.adopt(ofSlot);
      return answer;
    },
  };
}

/**
 * Writes the present instant to the row of a holder. The result is `"lost"` where the slot is lost, and
 * `"taken over"` where a later call with the same id has the slot.
 */
export function renewal(
  { counted, ttl }: SlotsLimit,
  { shard, value, writtenAt }: Holder,
  { clock }: Pick<Environment, "clock">,
): ClaimDecision<number | "lost" | "taken over"> {
  const row = counted[shard]!;
  const claim = {
    rows: [row],
    attempt(draft: Draft, now: number): number | "lost" | "taken over" {
      const state = draft.read(row);
      if (!isHolder(state, value, writtenAt)) {
        return isHeldAs(state, value, ttl, now) ? "taken over" : "lost";
      }
      // Time never runs backwards, or another holder's instant could come again.
      const ts = Math.max(now, state.ts);
      writtenAt.push(ts);
      draft.write(row, { used: state.used, ts });
      return ts;
    },
  };
  return new ClaimDecision(claim, clock);
}

/** Deletes the row of a holder. `"line"`: callers may wait for the slot, so the line has to be read. */
export function release(
  { counted }: SlotsLimit,
  { shard, value, writtenAt }: Holder,
  { clock }: Pick<Environment, "clock">,
): ClaimDecision<"released" | "not held" | "line"> {
  const row = counted[shard]!;
  const claim: Claim<"released" | "not held" | "line"> = {
    rows: [row],
    attempt(draft) {
      const state = draft.read(row);
      if (!isHolder(state, value, writtenAt)) return "not held";
      if (isMarked(state)) return "line";
      draft.write(row, null);
      return "released";
    },
  };
  return new ClaimDecision(claim, clock);
}
