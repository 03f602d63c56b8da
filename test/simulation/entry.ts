/** What a simulation loads of the package. */
export * from "../../server/index.js";
export { createRateLimitObserver } from "../../client/observer.js";
