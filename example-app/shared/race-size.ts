/**
 * How large a race is. The overview also shows a race, and draws its calls before the server has
 * answered.
 */

/** How many tokens a racer may take. */
export const ALLOWED = 10;

/** How many calls each of the two processes makes at once. */
export const CALLS = 25;
