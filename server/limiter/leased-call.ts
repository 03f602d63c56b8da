/** A call of `limit` that may be served from a block. */
import type { RateLimitResult } from "../../core/decide.js";
import type { LeasedLimit } from "../leases/block-take.js";
import type { Call } from "../store/store.js";
import type { LimitOptions } from "./call-options.js";
import type { LimitRequest } from "./limit-request.js";
import type { ResolvedLimit } from "./resolve-limit.js";

export interface LeasedCall {
  readonly request: LimitRequest & { readonly limit: ResolvedLimit & LeasedLimit };
  readonly options: LimitOptions;
  done(this: void, result: RateLimitResult): void;
  failed(this: void, error: unknown): void;
  /** Present if it has waited for a block that another call has asked for. */
  readonly wait?: Call;
}
