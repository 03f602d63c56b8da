/**
 * A statement with its parameters already marked in the text, as the dialects write them. Drizzle's
 * own templates would number a parameter anew at each use, and expand arrays into lists.
 */
import { entityKind } from "./drizzle-symbols.js";

/** Drizzle takes this object for a `SQL` of its own, and asks it for its text and its parameters. */
export class MarkedQuery {
  static readonly [entityKind] = "SQL";

  constructor(
    private readonly text: string,
    private readonly params: readonly unknown[],
  ) {}

  getSQL(): this {
    return this;
  }

  toQuery(): { sql: string; params: unknown[] } {
    return { sql: this.text, params: [...this.params] };
  }
}
