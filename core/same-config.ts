import type { Bucket } from "./config.js";

/** Whether two configs have equal options. */
export function sameConfig(a: Bucket, b: Bucket): boolean {
  if (a === b) return true;
  const names = Object.keys(a) as (keyof Bucket)[];
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}
