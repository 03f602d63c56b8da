/** A limit that a denial closes for a while (`blockFor`). */
import { createMoving } from "./moving.js";
import { BUCKET } from "./token-bucket.js";

const BLOCK_FOR = 4000;

export const closing = createMoving({
  ...BUCKET,
  what: "closing",
  configs: [{ kind: "token bucket", rate: 2, period: 1000, capacity: 6, blockFor: BLOCK_FOR }],
  denied(row, { rate, period }, now) {
    // A debt marks the bucket as closed, until a call is granted.
    if (row !== null && row.value < 0) return row;
    return { value: -(BLOCK_FOR * rate) / Number(period), ts: Math.max(now, row?.ts ?? now) };
  },
  isClosed: (row, config, now) =>
    row !== null && row.value < 0 && BUCKET.held(row, config, now).value <= 0,
});
