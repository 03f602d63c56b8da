/**
 * A connection that sends each statement to the model and to a real database, and compares the answers:
 * the rows, the reason of an error, or that the statement waits.
 */
import type { SqlConnection, SqlRow } from "../../../server/store/sql/driver.js";
import type { ModelSession } from "../model/server.js";

/** One connection to the real database. */
export interface RealSession extends SqlConnection {
  run(text: string): Promise<unknown>;
}

/** The result of a statement, as a text that can be compared. */
export type Outcome =
  | { kind: "rows"; shown: string; rows: SqlRow[] }
  | { kind: "count"; shown: string; count: number }
  | { kind: "error"; shown: string; error: Error };

/** A statement on both sides. */
export interface Pending {
  connection: number;
  text: string;
  params: readonly unknown[];
  model: Outcome | undefined;
  real: Outcome | undefined;
  /** Whether the statement had no answer for a while. */
  hasWaited: boolean;
  /** Passes the outcome on to the sender of the statement. */
  settle(): void;
}

/** One statement, in the version of each side. */
export interface Edited {
  model: string;
  real: string;
}

export interface TandemOptions {
  reasonOf(error: Error): string;
  /** Changes the bounds of waits, since the two sides have different clocks. */
  edit(text: string): Edited;
  /** Called with each statement when it is sent. */
  onSend(pending: Pending): void;
}

export class Tandem implements SqlConnection {
  constructor(
    readonly connection: number,
    readonly model: ModelSession,
    readonly real: RealSession,
    private readonly options: TandemOptions,
  ) {}

  async query(text: string, params: readonly unknown[]): Promise<SqlRow[]> {
    const outcome = await this.#send(text, params, "rows");
    return outcome.kind === "rows" ? outcome.rows : [];
  }

  async execute(text: string, params: readonly unknown[]): Promise<number> {
    const outcome = await this.#send(text, params, "count");
    return outcome.kind === "count" ? outcome.count : 0;
  }

  /** Sends a statement without parameters that is not prepared. */
  async run(text: string): Promise<void> {
    await this.#send(text, [], "run");
  }

  #send(given: string, params: readonly unknown[], how: "rows" | "count" | "run") {
    const { edit, reasonOf, onSend } = this.options;
    const { model, real: text } = edit(given);
    const { connection } = this;
    return new Promise<Outcome>((resolve, reject) => {
      const pending: Pending = {
        connection,
        text,
        params,
        model: undefined,
        real: undefined,
        hasWaited: false,
        settle() {
          const real = pending.real!;
          if (real.kind === "error") reject(real.error);
          else resolve(real);
        },
      };
      const failed = (error: Error): Outcome => {
        return { kind: "error", shown: `error: ${reasonOf(error)}`, error };
      };
      onSend(pending);
      this.model.query(model, params).then(
        ({ rows, rowCount }) => {
          pending.model = how === "rows" ? rowsOf(rows) : countOf(how === "run" ? 0 : rowCount);
        },
        (error: Error) => (pending.model = failed(error)),
      );
      this.#sendReal(text, params, how).then(
        (outcome) => (pending.real = outcome),
        (error: Error) => (pending.real = failed(error)),
      );
    });
  }

  async #sendReal(
    text: string,
    params: readonly unknown[],
    how: "rows" | "count" | "run",
  ): Promise<Outcome> {
    if (how === "rows") return rowsOf(await this.real.query(text, params));
    if (how === "count") return countOf(await this.real.execute(text, params));
    await this.real.run(text);
    return countOf(0);
  }
}

function rowsOf(rows: SqlRow[]): Outcome {
  // A row of nulls only carries the clock.
  const found = rows.filter(({ name }) => name !== null);
  return { kind: "rows", rows, shown: found.map(shownRow).sort().join("; ") };
}

function countOf(count: number): Outcome {
  return { kind: "count", count, shown: `${count} rows` };
}

function shownRow({ name, key, shard, used, state, ts }: SqlRow): string {
  const id = [name, key, shard].map(String).join(" ");
  // PostgreSQL returns the bits of both numbers.
  const bits = state as string | undefined;
  const shown = bits ?? (used === undefined ? undefined : `${Number(used)} at ${Number(ts)}`);
  if (shown === undefined) return id;
  return name === undefined ? shown : `${id} = ${shown}`;
}
