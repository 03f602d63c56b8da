/** The error for a method of the limiter that its store cannot serve. */
import { RateLimitConfigError } from "../../core/errors.js";
import type { RateLimitStore } from "../store/store.js";

export function unsupported(
  store: RateLimitStore,
  method: "using" | "transaction" | "prune" | "forget" | "list" | "overrides",
): RateLimitConfigError {
  const stores = "memoryStore(), prismaStore() or pgStore()";
  const message = `this store does not support ${method}(); use ${stores}`;
  return new RateLimitConfigError("store", store, { message });
}
