/**
 * A row of the table: two numbers, and what they say depends on its kind; see `kinds.ts`. Of a bucket,
 * they are what was used of it, and the instant of that; see `bucket.ts`.
 */
export interface Row {
  used: number;
  ts: number;
}
