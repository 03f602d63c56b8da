/** A store in memory that can fail or hang. */
import { memoryStore, type RateLimitStore, RateLimitStoreError } from "../../server/index.js";

export function frailStore() {
  const store = memoryStore();
  const state = { is: "well" as "well" | "failing" | "hanging" };
  const members = Object.entries(store).map(([name, member]): [string, unknown] => {
    if (typeof member !== "function") return [name, member];
    return [name, (...args: unknown[]) => answer(member as () => unknown, args)];
  });
  function answer(method: (...args: unknown[]) => unknown, args: unknown[]): unknown {
    if (state.is === "hanging") return new Promise(() => {});
    if (state.is === "failing") {
      return Promise.reject(new RateLimitStoreError("the secret host is down"));
    }
    return method.apply(store, args);
  }
  return { state, store: Object.fromEntries(members) as unknown as RateLimitStore };
}
