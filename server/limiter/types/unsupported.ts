/** The error for a method of the limiter that its store cannot serve. */
import { RateLimitConfigError } from "../../../core/errors.js";
import type { RateLimitStore } from "../../store/store.js";

export function unsupported(
  store: RateLimitStore,
  method: "using" | "transaction" | "prune" | "forget" | "list" | "overrides",
): RateLimitConfigError {
  const stores = "memoryStore(), prismaStore() or pgStore()";
  const message = `this store does not support ${method}(); use ${stores}`;
  return new RateLimitConfigError("store", store, { message });
}

/** For a table of overrides that no transaction can write. */
export function noOverridesInside(store: RateLimitStore): RateLimitConfigError {
  const message =
    "this store does not support overrides in a transaction: its table has no readWithin and " +
    "writeWithin; call limiter.overrides outside of the transaction";
  return new RateLimitConfigError("store", store, { message });
}
