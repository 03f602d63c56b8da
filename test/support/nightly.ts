/** With all that takes long and seldom finds what the rest does not. */
export const isNightly = Boolean(process.env["NIGHTLY"]);
/** What a test prints when it is skipped by day. */
/** All of them at night. By day the first ones, for cases that differ little. */
export function byNight<TCase>(cases: readonly TCase[], byDay = 1): readonly TCase[] {
  return isNightly ? cases : cases.slice(0, byDay);
}
export const NIGHTLY_ONLY = "runs with NIGHTLY=1 only";
