/**
 * The texts of prepared statements. A prepared statement can be lost, or stop fitting its table: after
 * a migration, a `DISCARD ALL`, or behind a pooler. The database then answers with an error, and has
 * run nothing. The statement is sent again without being prepared, and from then on all statements have
 * another text, so that every connection prepares them anew. The text changes, and not the name alone,
 * because PgBouncer takes two names of one text for one statement.
 */
import type { SqlConnection } from "../sql/driver.js";

/**
 * How often the texts change. After that, nothing is prepared any more: migrations are few, and behind
 * a pooler without prepared statements each new text fails like the last one.
 */
const MOST_RENEWALS = 16;

export class PreparedTexts {
  #renewals = 0;
  /** By the text of the statement. */
  readonly #texts = new Map<string, string>();

  /** The version of the texts that are sent now, for `renew`. */
  get version(): number {
    return this.#renewals;
  }

  /** The text to prepare; `undefined` where preparing does no good. */
  of(text: string): string | undefined {
    if (this.#renewals === 0) return text;
    if (this.#renewals === MOST_RENEWALS) return undefined;
    let renewed = this.#texts.get(text);
    if (renewed === undefined) {
      renewed = `${text} /* ${this.#renewals} */`;
      this.#texts.set(text, renewed);
    }
    return renewed;
  }

  /**
   * Changes all texts, because a prepared statement of this version cannot be run as prepared. Other
   * statements that were sent before the renewal may fail after it, and then change nothing.
   */
  renew(version: number): void {
    if (version !== this.#renewals || version === MOST_RENEWALS) return;
    this.#renewals++;
    this.#texts.clear();
  }
}

/** For a client that prepares every statement by its text, and cannot send a statement unprepared. */
export function renewingTexts(
  connection: SqlConnection,
  isUnprepared: (error: unknown) => boolean,
): SqlConnection {
  const texts = new PreparedTexts();
  const send = async <TResult>(
    sendAs: (text: string) => Promise<TResult>,
    text: string,
  ): Promise<TResult> => {
    const { version } = texts;
    const prepared = texts.of(text);
    if (prepared === undefined) return sendAs(text);
    try {
      return await sendAs(prepared);
    } catch (error) {
      if (!isUnprepared(error)) throw error;
      texts.renew(version);
      return sendAs(texts.of(text) ?? text);
    }
  };
  return {
    query: (text, params, ...more) => send((sent) => connection.query(sent, params, ...more), text),
    execute: (text, params, ...more) =>
      send((sent) => connection.execute(sent, params, ...more), text),
  };
}
