/**
 * `limit` for a limit with a `lease`: a call is served from a block of this process, or waits for one
 * that is under way, or asks for one. It asks the row itself where a block is not worth it. It then
 * has the full capacity, as without a lease.
 */
import type { RateLimitConfig } from "../../core/config.js";
import type { RateLimitResult } from "../../core/decide.js";
import { windowAt } from "../../core/windows.js";
import type { Block } from "../leases/block.js";
import { blockSize } from "../leases/block-size.js";
import { BlockTake, type BlockTaken } from "../leases/block-take.js";
import type { Instant } from "../leases/clocks.js";
import type { Lease } from "../leases/lease.js";
import type { Leases } from "../leases/leases.js";
import { type Context, report } from "./context.js";
import { openedBy } from "./fail-open.js";
import type { LeasedCall } from "./leased-call.js";
import type { ResolvedLimit } from "./resolve-limit.js";
import { remember } from "./receipt.js";

/** What the calls of one limit for one key share. */
interface Serving {
  context: Context;
  lease: Lease<LeasedCall>;
  /** Sends a call to its row. */
  askRow(this: void, context: Context, call: LeasedCall): void;
}

/** A take that is under way. */
interface Sent {
  /** When it was sent. */
  at: Instant;
  /** See `Lease`. */
  stops: number;
  /** How many of the waiting calls it takes tokens for. */
  calls: number;
}

/** @param askRow for a call that no block serves. */
export function limitLeased(
  context: Context,
  leases: Leases<LeasedCall>,
  call: LeasedCall,
  askRow: Serving["askRow"],
): void {
  const lease = leases.of(call.request.limit);
  lease.demand.note(call.request.count);
  serve({ context, lease, askRow }, call);
}

function serve(serving: Serving, call: LeasedCall): void {
  const { context, lease } = serving;
  const { count } = call.request;
  const block = lease.take(count);
  if (block !== undefined) {
    grant(context, call, block);
    if (lease.isLow(block) && lease.plan(0) > 0) takeBlock(serving, call, []);
  } else if (lease.waiting !== undefined) {
    lease.waiting.push(inTime(context, call));
  } else if (lease.plan(count) > 0) {
    takeBlock(serving, call, [inTime(context, call)]);
  } else {
    ask(serving, call);
  }
}

/** @param like a call of the limit, which may have been served already. */
function takeBlock(serving: Serving, like: LeasedCall, calls: LeasedCall[]): void {
  serving.lease.waiting = calls;
  // Later in this tick, because calls that are made together share the take.
  queueMicrotask(() => send(serving, like, calls));
}

function send(serving: Serving, like: LeasedCall, calls: readonly LeasedCall[]): void {
  const { context, lease } = serving;
  const { limit } = like.request;
  const waiting = calls.reduce((sum, { request }) => sum + request.count, 0);
  const needs = lease.needs();
  const size = lease.plan(waiting, needs);
  if (size === 0) return askAll(serving);
  const sizeAt = (level: number) => blockSize(needs, level);
  const take = new BlockTake(limit, waiting, size, sizeAt, context.environment.clock);
  const sent = { at: lease.instant(), stops: lease.stops, calls: calls.length };
  context.submit(
    take,
    (taken) => {
      if (taken.size > 0) return begin(serving, limit, taken, sent);
      lease.declined(taken.row);
      askAll(serving);
    },
    (error) => {
      for (const call of endWait(lease)) fail(context, call, error);
    },
  );
}

/** A block has come. */
function begin(serving: Serving, limit: ResolvedLimit, taken: BlockTaken, sent: Sent): void {
  const { context, lease } = serving;
  const calls = endWait(lease);
  const block = lease.blockOf(taken, sent.at);
  const waited = calls.slice(0, sent.calls);
  for (const { request } of waited) block.take(request.count);
  if (lease.stops !== sent.stops) block.stop();
  if (block.isLiving()) lease.add(block);
  context.denials?.used(limit, true);
  context.onChange(limit.name, limit.key);
  // Also if the block is over by now: the row has granted these.
  for (const call of waited) grant(context, call, block);
  for (const call of calls.slice(sent.calls)) if (!call.wait?.expired) serve(serving, call);
}

function endWait(lease: Lease<LeasedCall>): LeasedCall[] {
  const { waiting = [] } = lease;
  lease.waiting = undefined;
  return waiting;
}

function askAll(serving: Serving): void {
  for (const call of endWait(serving.lease)) if (!call.wait?.expired) ask(serving, call);
}

/** It may ask the row after the block. Its time begins with its wait, and not with that. */
function inTime(context: Context, call: LeasedCall): LeasedCall {
  const { deadline } = context;
  if (deadline === undefined || call.wait !== undefined) return call;
  const onFailure = (error: unknown) => fail(context, call, error);
  const wait = deadline.wait<undefined, RateLimitResult>(undefined, call.done, onFailure);
  return {
    ...call,
    wait,
    done: (result) => wait.resolve(result),
    failed: (error) => wait.reject(error),
  };
}

/** Asks the row, and learns how much it holds. */
function ask({ context, lease, askRow }: Serving, call: LeasedCall): void {
  const { part } = call.request.limit;
  const submit: Context["submit"] = (decision, done, failed) => {
    context.submit(
      decision,
      (result) => {
        // It is that of a decision of `limit`.
        lease.saw(rowAfter(result as RateLimitResult, part, lease.now()));
        done(result);
      },
      failed,
    );
  };
  askRow({ ...context, submit }, call);
}

function rowAfter(result: RateLimitResult, config: RateLimitConfig, now: number) {
  const { value } = result;
  if (result.ok) return { value, ts: result.ts };
  return { value, ts: config.kind === "fixed window" ? windowAt(config, now) : now };
}

function grant(context: Context, { request, done }: LeasedCall, block: Block): void {
  const { limit, count } = request;
  const { environment } = context;
  const granted = { ok: true, value: block.row.value + block.remaining, ts: block.row.ts } as const;
  const result = remember(granted, { limit, count, environment, readOnly: false, block });
  report(context, "limit", request, result, false);
  done(result);
}

function fail(context: Context, call: LeasedCall, error: unknown): void {
  const { limit } = call.request;
  const { environment } = context;
  const result = openedBy(error, limit, context);
  if (result === undefined) return call.failed(error);
  report(context, "limit", call.request, result, false);
  call.done(remember(result, { limit, count: 0, environment, readOnly: false }));
}
