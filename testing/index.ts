export { createManualClock, type ManualClock } from "../core/testing.js";
export {
  createFakeRateLimits,
  type FakeRateLimits,
  type FakeRateLimitsOptions,
} from "./fake-rate-limits.js";
export { describeStore } from "./describe-store.js";
export type { StoreUnderTest } from "./store-under-test.js";
export type { TestMatchers, TestRunner } from "./test-runner.js";
