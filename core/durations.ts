/** Durations in ms, for `period` and other options. */

/** One second, in ms. */
export const SECOND = 1000;
/** One minute, in ms. */
export const MINUTE = 60 * SECOND;
/** One hour, in ms. */
export const HOUR = 60 * MINUTE;
/** 24 hours, in ms. */
export const DAY = 24 * HOUR;
/**
 * Seven days of 24 hours, in ms. A window with `start: 0` begins on a Thursday, because 1 January
 * 1970 was one. With `start: 4 * DAY`, it begins on a Monday at midnight UTC.
 */
export const WEEK = 7 * DAY;

/** About the longest delay of a timer, ms. A delay of 2^31 ms or more would fire at once. */
export const MAX_TIMEOUT = 2e9;
