/** A conflict found by us rather than by the database; Prisma's code tells what to do about it. */
export class WriteConflictError extends Error {
  override readonly name = "WriteConflictError";
  /** "Transaction failed due to a write conflict or a deadlock. Please retry your transaction" */
  readonly code = "P2034";

  constructor() {
    super("another transaction wrote the same rate limits; retry the transaction");
  }
}
