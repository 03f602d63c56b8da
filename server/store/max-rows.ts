/** How much of a table one trip reads or writes. */

/** The most rows of one round trip, so that each trip takes a small part of the time-out. */
export const MAX_ROWS = 2000;
