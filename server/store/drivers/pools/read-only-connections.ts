/** Connections to a server that accepts no writes any more, such as a primary that was replaced. */
import { DIALECTS } from "../../sql/dialects.js";

export class ReadOnlyConnections {
  readonly #known = new WeakSet<object>();

  /**
   * Notes whether a statement has failed as read-only, because the application may hide its error.
   * Passes the answer or the error on.
   */
  async noting<TResult>(connection: object, answer: Promise<TResult>): Promise<TResult> {
    try {
      return await answer;
    } catch (error) {
      if (isReadOnly(error)) this.#known.add(connection);
      throw error;
    }
  }

  /**
   * The error with which the connection should be closed; `undefined` if the connection should be given
   * back.
   */
  errorOf(connection: object, cause?: unknown): Error | undefined {
    const isKnown = this.#known.has(connection) || isReadOnly(cause);
    return isKnown ? new Error("the connection is read-only") : undefined;
  }
}

/** All dialects can be asked: no database uses such a code of another database for something else. */
function isReadOnly(error: unknown): boolean {
  return Object.values(DIALECTS).some(({ errors }) => errors.isReadOnly(error));
}
