/** `check`: the answer that `limit` would give. Consumes nothing. */
import type { RateLimitResult } from "../../../core/decide.js";
import type { Leases } from "../../leases/leases.js";
import type { LeasedLimit } from "../../leases/block-take.js";
import { canServe, type WaitingCall } from "../answers/leased.js";
import type { LimitOptions } from "../types/limit.js";
import { AsManyClaim } from "../claims/as-many.js";
import { chooseFullerFirst } from "../claims/choose-shards.js";
import { TokenClaim } from "../claims/token-claim.js";
import type { Context } from "../context/context.js";
import { type Claim, ClaimDecision } from "../claims/draft.js";
import { LIMIT_OPTIONS } from "../types/limit.js";
import { rejectUnknownOptions } from "../types/known-options.js";
import { SingleCall } from "./limit.js";
import { AsManyCall, type AsManyOptions, asManyRequestOf } from "./limit-as-many.js";
import { type LimitRequest, requestOf } from "../limits/limit-request.js";
import { holdOf } from "../claims/hold-request.js";
import { reclaimable } from "../holds/reclaim.js";
import { withGranted } from "../claims/markers.js";
import { once } from "../claims/once.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";
import { withBlocks } from "../limits/with-blocks.js";

export function check(
  context: Context,
  name: string,
  options: LimitOptions = {},
): Promise<RateLimitResult> {
  return new Promise((done, failed) => {
    const { environment, leases } = context;
    rejectUnknownOptions(options, LIMIT_OPTIONS, "check()");
    const asMany = hasAtLeast(options) ? asManyRequestOf(context, name, options) : undefined;
    const request = asMany ?? requestOf(context, name, options);
    const { limit, count } = request;
    const rows = chooseFullerFirst(limit, environment);
    let claim: Claim<RateLimitResult> =
      asMany === undefined
        ? new TokenClaim(request, rows, false)
        : new AsManyClaim(asMany, rows, false);
    const { once: id } = options;
    let marker = id === undefined ? undefined : context.markerFor(limit, id);
    if (marker !== undefined && asMany !== undefined) marker = withGranted(marker);
    holdOf(options, request, marker);
    if (marker !== undefined) {
      claim = once(claim, limit, marker);
    } else if (leases !== undefined && asMany === undefined && canServe(request)) {
      claim = orFromBlock(claim, request, leases);
    }
    const decision = new ClaimDecision(reclaimable(claim, limit), environment.clock, true);
    const of = { limit, count, environment, readOnly: true, now: 0 };
    const { throws } = options;
    const Call = asMany === undefined ? SingleCall : AsManyCall;
    context.ask(new Call(context, "check", request, throws, done, failed, decision, of));
  });
}

function hasAtLeast(options: LimitOptions): options is AsManyOptions {
  return "atLeast" in options;
}

/** The result that a call would get from the row, or from a block of this process. */
function orFromBlock(
  claim: Claim<RateLimitResult>,
  { limit, count }: LimitRequest & { limit: ResolvedLimit & LeasedLimit },
  leases: Leases<WaitingCall>,
): Claim<RateLimitResult> {
  return {
    rows: claim.rows,
    attempt(draft, now) {
      const result = claim.attempt(draft, now);
      const value = withBlocks(leases, limit, result.value);
      // The wait is that of the row: the tokens that blocks will have then are not known.
      if (result.ok || !leases.covers(limit, count)) return { ...result, value };
      return { ok: true, value: value - count, ts: now };
    },
  };
}
