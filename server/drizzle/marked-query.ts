/**
 * A statement with its parameters already marked in the text, as the dialects write them. Drizzle's
 * own templates would number a parameter anew at each use, and expand arrays into lists.
 */
import { SQL } from "drizzle-orm";

export class MarkedQuery extends SQL {
  constructor(
    private readonly text: string,
    private readonly params: readonly unknown[],
  ) {
    super([]);
  }

  override toQuery(): ReturnType<SQL["toQuery"]> {
    return { sql: this.text, params: [...this.params] };
  }
}
