/** With all that takes long and seldom finds what the rest does not. */
export const isNightly = Boolean(process.env["NIGHTLY"]);
/** What a test prints when it is skipped by day. */
export const NIGHTLY_ONLY = "runs with NIGHTLY=1 only";
