/** The bounds of a transaction where neither the call nor the client has its own: Prisma's. */

/** How long a transaction may take, ms. */
export const TIMEOUT = 5000;
/** How long it may wait for a connection, ms. */
export const MAX_WAIT = 2000;
