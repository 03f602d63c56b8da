/** A limit whose config changes from call to call, as with the plans of customers. */
import { createMoving } from "./moving.js";
import { BUCKET } from "./token-bucket.js";

export const tiers = createMoving({
  ...BUCKET,
  what: "tiers",
  configs: [
    { kind: "token bucket", rate: 4, period: 1000 },
    { kind: "token bucket", rate: 8, period: 1000, capacity: 16, maxReserved: 4 },
    { kind: "token bucket", rate: 16, period: 1000, capacity: 32, maxReserved: 8 },
  ],
});
