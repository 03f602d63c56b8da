export { createManualClock, type ManualClock } from "../../core/testing.js";
export {
  createFakeRateLimits,
  type FakeRateLimits,
  type FakeRateLimitsOptions,
} from "./fake-rate-limits.js";
