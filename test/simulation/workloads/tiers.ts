/** A limit of three plans. Each call has a random plan. */
import { createMoving } from "./moving.js";
import { BUCKET } from "./token-bucket.js";

export const tiers = createMoving({
  ...BUCKET,
  what: "tiers",
  limit: {
    kind: "token bucket",
    period: 1000,
    plans: {
      free: { rate: 4, maxReserved: 2 },
      plus: { rate: 8, capacity: 16, maxReserved: 4 },
      pro: { rate: 16, capacity: 32, maxReserved: 8 },
    },
  },
});
