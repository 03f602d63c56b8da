/** Durations in milliseconds, for `period` and friends. */
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const WEEK = 7 * DAY;

/** About the longest delay of a timer, ms. A delay of 2^31 ms or more would fire at once. */
export const MAX_TIMEOUT = 2e9;
