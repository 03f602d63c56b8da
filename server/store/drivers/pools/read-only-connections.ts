/** Connections to a server that accepts no writes any more, such as a primary that was replaced. */
import { DIALECTS } from "../../sql/dialects.js";

export interface ReadOnlyConnections {
  /** Notes an error of a statement, which the application may hide, and passes it on. */
  noting<TResult>(connection: object, answer: Promise<TResult>): Promise<TResult>;
  /** Whether the connection should be closed, and not given back. */
  has(connection: object, cause?: unknown): boolean;
}

export function createReadOnlyConnections(): ReadOnlyConnections {
  const known = new WeakSet<object>();
  return {
    async noting(connection, answer) {
      try {
        return await answer;
      } catch (error) {
        if (isReadOnly(error)) known.add(connection);
        throw error;
      }
    },
    has: (connection, cause) => known.has(connection) || isReadOnly(cause),
  };
}

/** No code of a database means something else to another one. */
function isReadOnly(error: unknown): boolean {
  return Object.values(DIALECTS).some(({ errors }) => errors.isReadOnly(error));
}
