/**
 * The tokens that a process holds of one row under one config: its living blocks, and the figures that
 * choose the next block. A lease sends nothing itself.
 */
import { type RateLimitState, stateAt } from "../../core/calculate.js";
import { capacityOf } from "../../core/config.js";
import { windowAfter } from "../../core/windows.js";
import { tokensWithin } from "../../core/validate-lease.js";
import { Block } from "./block.js";
import { blockSize, type BlockNeeds } from "./block-size.js";
import type { BlockTaken } from "./block-take.js";
import type { Instant, LeaseClocks } from "./clocks.js";
import { Demand } from "./demand.js";
import { Gain } from "./gain.js";
import type { LeaseTerms } from "./lease-terms.js";

/**
 * The next block is fetched when this part of a block is left: of the tokens that the waiting calls left
 * in it.
 */
const FETCH_AT = 1 / 4;

export class Lease<TCall = unknown> {
  /** The calls that wait for a take that is under way. */
  waiting: TCall[] | undefined;
  /** How often `stop` has ended the blocks. A take that was sent before the last `stop` brings no block. */
  stops = 0;
  readonly demand: Demand;
  readonly gain: Gain;
  /** The next lease of the same row, under another config. */
  next: Lease<TCall> | undefined;
  private blocks: Block[] = [];
  /** The row, as it was last seen. */
  private row: RateLimitState | undefined;
  /**
   * Whether the row is believed to have refilled since then. False while other processes take the tokens
   * that refill.
   */
  private refills = true;
  private fetchBelow = -Infinity;

  constructor(
    public terms: LeaseTerms,
    private readonly clocks: LeaseClocks,
  ) {
    this.demand = new Demand(terms.ms);
    this.gain = new Gain(terms.ms);
  }

  /** Takes the tokens of a call from a living block. */
  take(count: number): Block | undefined {
    for (const block of this.blocks) {
      if (!block.isLiving()) return this.takeFromNext(block, count);
      if (block.take(count)) return block;
    }
    return undefined;
  }

  /** Whether it is time for the next block, although this block has tokens. True once per block. */
  isLow(block: Block): boolean {
    if (block.remaining >= this.fetchBelow || this.waiting !== undefined) return false;
    if (block !== this.blocks.at(-1)) return false;
    this.fetchBelow = -Infinity;
    return true;
  }

  /** The tokens of the living blocks. */
  tokens(): number {
    let held = 0;
    for (const block of this.blocks) if (block.isLiving()) held += block.remaining;
    return held;
  }

  /** Whether a living block has that many tokens. */
  covers(count: number): boolean {
    return this.blocks.some((block) => block.remaining >= count && block.isLiving());
  }

  saw(row: RateLimitState): void {
    this.row = row;
  }

  /** The row had too few tokens for a block. */
  declined(row: RateLimitState): void {
    this.row = row;
    this.refills = false;
  }

  /** The figures that set the size of a block, for a take that is sent now. */
  needs(): BlockNeeds {
    const { ms, config } = this.terms;
    const now = this.clocks.monotonic();
    return {
      demand: this.demand.at(now),
      gain: this.gain.at(now),
      refill: tokensWithin(config, ms),
    };
  }

  /**
   * The tokens of the next block, beside those of the waiting calls; 0 for no block.
   *
   * @param waiting the tokens of these calls.
   */
  plan(waiting: number, needs: BlockNeeds = this.needs()): number {
    const { config, least, margin, ms, keeps } = this.terms;
    // Before the first answer, nothing is known of the row.
    if (this.row === undefined) return 0;
    const now = this.clocks.limiter();
    const isWindow = config.kind === "fixed window";
    const { value, ts } = stateAt(this.row, config, isWindow || this.refills ? now : this.row.ts);
    // No block of a window that is about to end.
    const early = margin + this.clocks.behind() + ms / 10;
    if (isWindow && windowAfter(config, ts, 1) - now < early) return 0;
    return blockSize(needs, Math.min(value, capacityOf(config) - least) - keeps - waiting);
  }

  /** The limiter's time, epoch ms. */
  now(): number {
    return this.clocks.limiter();
  }

  /** The present instant, for a take that is about to be sent. */
  instant(): Instant {
    const { clocks } = this;
    return { monotonic: clocks.monotonic(), wall: clocks.wall(), limiter: clocks.limiter() };
  }

  /**
   * Makes a block of the tokens that were taken. Its life begins just before the take was sent, at
   * `sentAt`. The database takes the tokens after that, so the row begins to refill no earlier than the
   * block's life begins.
   */
  blockOf({ size, row, now }: BlockTaken, sentAt: Instant): Block {
    this.row = row;
    this.refills = true;
    const { config, ms, margin } = this.terms;
    const isWindow = config.kind === "fixed window";
    // The window may have ended for other processes already, because their clocks may be ahead.
    const end = isWindow ? windowAfter(config, row.ts, 1) - this.clocks.behind() : now + ms;
    // Where the window of the row is still to come, too, the block lives no longer than one period.
    const life = Math.min(end - now, isWindow ? config.period : ms) - margin;
    return new Block(
      size,
      row,
      sentAt,
      { monotonic: sentAt.monotonic + life, wall: sentAt.wall + life, limiter: now + life },
      this.clocks,
    );
  }

  /** From now on, calls are served from this block, too. */
  add(block: Block): void {
    for (const old of this.blocks) if (old.isLiving()) this.gain.usedUp(old);
    // The older blocks stay first: less is left of them, and they end first.
    this.blocks = this.blocks.filter((old) => old.remaining > 0 && old.isLiving());
    this.blocks.push(block);
    this.fetchBelow = block.remaining * FETCH_AT;
  }

  /** Ends all blocks, because the row was reset. A take that is under way brings no block. */
  stop(): void {
    this.stops++;
    for (const block of this.blocks) block.stop();
    this.blocks = [];
    this.row = undefined;
  }

  /** Whether this lease can be forgotten without losing tokens. */
  isIdle(): boolean {
    return this.waiting === undefined && !this.blocks.some((block) => block.isLiving());
  }

  private takeFromNext(over: Block, count: number): Block | undefined {
    this.gain.lapsed(over, this.clocks.monotonic());
    this.blocks = this.blocks.filter((block) => block !== over);
    return this.take(count);
  }
}
