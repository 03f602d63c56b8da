/** Whether slow tests run, too, that seldom find more than all others. */
export const isNightly = Boolean(process.env["NIGHTLY"]);
/** All cases at night. By day only the first ones, for cases that differ little. */
export function byNight<TCase>(cases: readonly TCase[], byDay = 1): readonly TCase[] {
  return isNightly ? cases : cases.slice(0, byDay);
}
/** The message of a test that is skipped by day. */
export const NIGHTLY_ONLY = "runs with NIGHTLY=1 only";
