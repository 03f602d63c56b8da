/**
 * For a limit with a `lease`: a call is served from a block of this process, waits for a block that is
 * under way, or asks for a block. Where a block is not worth it, the call asks the next link, and has the
 * full capacity, as without a lease.
 */
import type { Bucket } from "../../../core/config.js";
import type { RateLimitResult } from "../../../core/decide.js";
import { windowAt } from "../../../core/windows.js";
import type { Block } from "../../leases/block.js";
import { blockSize } from "../../leases/block-size.js";
import { BlockTake, type BlockTaken, type LeasedLimit } from "../../leases/block-take.js";
import type { Instant } from "../../leases/clocks.js";
import type { Lease } from "../../leases/lease.js";
import type { Leases } from "../../leases/leases.js";
import type { LimitRequest } from "../limits/limit-request.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";
import type { Ask, LimitCall } from "./asked.js";
import type { Deadline, Waiting } from "./deadline.js";

export interface BlockParts {
  readonly leases: Leases<WaitingCall>;
  readonly deadline: Deadline;
  readonly clock: () => number;
  /** Asks for the take of a block. */
  readonly ask: Ask;
  /** Called after a block was taken from the row of a limit. */
  blockTaken(limit: ResolvedLimit): void;
}

/** A take that is under way. */
interface Sent {
  /** When it was sent. */
  at: Instant;
  /** See `Lease`. */
  stops: number;
  /** How many of the waiting calls the take has tokens for. */
  calls: number;
}

type Leased = ResolvedLimit & LeasedLimit;
type OwnLease = Lease<WaitingCall>;

export function fromBlocks(parts: BlockParts): (next: Ask<LimitCall>) => Ask<LimitCall> {
  return (next) => {
    const blocks = new Blocks(parts, next);
    return (call) => {
      const { request } = call;
      if (canServe(request)) blocks.serveNew(call, request);
      else next(call);
    };
  };
}

/** Whether blocks count for a call. Reservations and waits are a matter of the row alone. */
export function canServe(request: LimitRequest): request is LimitRequest & { limit: Leased } {
  const { limit, reserve, maxWait, count } = request;
  return limit.lease !== undefined && !reserve && maxWait === undefined && count > 0;
}

/**
 * A call that waits for a block. After the block, the call may have to ask the row. Its timeout begins
 * with the wait for the block, and not with the question to the row.
 */
export class WaitingCall implements LimitCall {
  readonly request: LimitRequest;
  readonly #call: LimitCall;
  readonly #wait: Waiting<undefined, undefined>;

  constructor(call: LimitCall, deadline: Deadline) {
    this.request = call.request;
    this.#call = call;
    const failed = (error: unknown) => call.failed(error);
    this.#wait = deadline.wait<undefined, undefined>({ toDecision() {}, done() {}, failed });
  }

  get expired(): boolean {
    return this.#wait.expired;
  }

  toDecision(): ReturnType<LimitCall["toDecision"]> {
    return this.#call.toDecision();
  }

  done(result: RateLimitResult): void {
    this.#wait.resolve(undefined);
    this.#call.done(result);
  }

  failed(error: unknown): void {
    this.#wait.reject(error);
  }

  answer(...answer: Parameters<LimitCall["answer"]>): void {
    this.#wait.resolve(undefined);
    this.#call.answer(...answer);
  }
}

class Blocks {
  constructor(
    private readonly parts: BlockParts,
    private readonly next: Ask<LimitCall>,
  ) {}

  serveNew(call: LimitCall, { limit, count }: { limit: Leased; count: number }): void {
    const lease = this.parts.leases.of(limit);
    lease.demand.note(count);
    this.serve(lease, limit, call);
  }

  private serve(lease: OwnLease, limit: Leased, call: LimitCall): void {
    const { count } = call.request;
    const block = lease.take(count);
    if (block !== undefined) {
      this.grant(call, block);
      if (lease.isLow(block) && lease.plan(0) > 0) this.takeBlock(lease, limit, []);
    } else if (lease.waiting !== undefined) {
      lease.waiting.push(this.inTime(call));
    } else if (lease.plan(count) > 0) {
      this.takeBlock(lease, limit, [this.inTime(call)]);
    } else {
      this.askRow(lease, call);
    }
  }

  private takeBlock(lease: OwnLease, limit: Leased, calls: WaitingCall[]): void {
    lease.waiting = calls;
    // Send later in this tick, so that calls that are made together share the take.
    queueMicrotask(() => this.send(lease, limit, calls));
  }

  private send(lease: OwnLease, limit: Leased, calls: readonly WaitingCall[]): void {
    const waiting = calls.reduce((sum, { request }) => sum + request.count, 0);
    const needs = lease.needs();
    const size = lease.plan(waiting, needs);
    if (size === 0) return this.askAll(lease);
    const sizeAt = (level: number) => blockSize(needs, level);
    const take = new BlockTake(limit, waiting, size, sizeAt, this.parts.clock);
    const sent = { at: lease.instant(), stops: lease.stops, calls: calls.length };
    this.parts.ask({
      toDecision: () => take,
      done: (result) => {
        const taken = result as BlockTaken;
        if (taken.size > 0) return this.begin(lease, limit, taken, sent);
        lease.declined(taken.row);
        this.askAll(lease);
      },
      failed(error) {
        for (const call of endWait(lease)) call.failed(error);
      },
    });
  }

  /** A block has come. */
  private begin(lease: OwnLease, limit: Leased, taken: BlockTaken, sent: Sent): void {
    const calls = endWait(lease);
    const block = lease.blockOf(taken, sent.at);
    const waited = calls.slice(0, sent.calls);
    for (const { request } of waited) block.take(request.count);
    if (lease.stops !== sent.stops) block.stop();
    if (block.isLiving()) lease.add(block);
    this.parts.blockTaken(limit);
    // Grant these calls even if the block is over by now: the row has granted their tokens.
    for (const call of waited) this.grant(call, block);
    for (const call of calls.slice(sent.calls)) if (!call.expired) this.serve(lease, limit, call);
  }

  private askAll(lease: OwnLease): void {
    for (const call of endWait(lease)) if (!call.expired) this.askRow(lease, call);
  }

  /** Asks the row, and learns how many tokens the row holds. */
  private askRow(lease: OwnLease, call: LimitCall): void {
    const { request } = call;
    this.next({
      request,
      toDecision: () => call.toDecision(),
      done(result) {
        lease.saw(rowAfter(result, request.limit.part, lease.now()));
        call.done(result);
      },
      failed: (error) => call.failed(error),
      answer: (...answer) => call.answer(...answer),
    });
  }

  private inTime(call: LimitCall): WaitingCall {
    return call instanceof WaitingCall ? call : new WaitingCall(call, this.parts.deadline);
  }

  private grant(call: LimitCall, block: Block): void {
    const { value, ts } = block.row;
    call.answer({ ok: true, value: value + block.remaining, ts }, ts, block);
  }
}

function endWait(lease: OwnLease): WaitingCall[] {
  const { waiting = [] } = lease;
  lease.waiting = undefined;
  return waiting;
}

function rowAfter(result: RateLimitResult, config: Bucket, now: number) {
  const { value } = result;
  if (result.ok) return { value, ts: result.ts };
  return { value, ts: config.kind === "fixed window" ? windowAt(config, now) : now };
}
