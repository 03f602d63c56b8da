/** Ends a check whose result would say nothing. The message is the reason, for a sentence with "because". */
export class NotChecked extends Error {}

/** Why a check was not possible. Throws an error again that is not about that. */
export function reasonOf(error: unknown): string {
  // A folder may be unreadable, and a disk may be full.
  const isOfSystem = error instanceof Error && "errno" in error;
  if (error instanceof NotChecked || isOfSystem) return error.message;
  throw error;
}
