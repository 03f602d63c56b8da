/** A conflict found by the store instead of the database, with Prisma's code for conflicts. */
export class WriteConflictError extends Error {
  override readonly name = "WriteConflictError";
  /** "Transaction failed due to a write conflict or a deadlock. Please retry your transaction" */
  readonly code = "P2034";

  constructor() {
    super("another transaction wrote the same rate limits; retry the transaction");
  }
}
