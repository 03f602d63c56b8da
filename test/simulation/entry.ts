/** The part of the package that a simulation loads. */
export * from "../../server/index.js";
export { createRateLimitObserver } from "../../client/observer.js";
