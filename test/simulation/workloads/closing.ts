/** A limit that a denial closes for a while (`blockFor`), with two plans of different rates. */
import { createMoving } from "./moving.js";
import { BUCKET } from "./token-bucket.js";

const BLOCK_FOR = 4000;

export const closing = createMoving({
  ...BUCKET,
  what: "closing",
  limit: {
    kind: "token bucket",
    period: 1000,
    blockFor: BLOCK_FOR,
    plans: { free: { rate: 2, capacity: 6 }, pro: { rate: 8, capacity: 16 } },
  },
  // The bucket stays closed, or in debt, until a call is granted.
  closes: (row, now) =>
    row?.kind === "closed" || row?.kind === "owed" ? row : { kind: "closed", ts: now + BLOCK_FOR },
});
