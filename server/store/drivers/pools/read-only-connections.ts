/** Connections to a server that accepts no writes any more, such as a primary that was replaced. */
import { DIALECTS } from "../../sql/dialects.js";

export class ReadOnlyConnections {
  readonly #known = new WeakSet<object>();

  /** Notes an error of a statement, which the application may hide, and passes it on. */
  async noting<TResult>(connection: object, answer: Promise<TResult>): Promise<TResult> {
    try {
      return await answer;
    } catch (error) {
      if (isReadOnly(error)) this.#known.add(connection);
      throw error;
    }
  }

  /** With which error the connection should be closed; `undefined` if it should be given back. */
  errorOf(connection: object, cause?: unknown): Error | undefined {
    const isKnown = this.#known.has(connection) || isReadOnly(cause);
    return isKnown ? new Error("the connection is read-only") : undefined;
  }
}

/** No code of a database means something else to another one. */
function isReadOnly(error: unknown): boolean {
  return Object.values(DIALECTS).some(({ errors }) => errors.isReadOnly(error));
}
