/**
 * A row of the table: two numbers. Their meaning depends on the kind of the row; see `kinds.ts`. For a
 * bucket, they are what was used, and the instant at which that is true; see `bucket.ts`.
 */
export interface Row {
  used: number;
  ts: number;
}
