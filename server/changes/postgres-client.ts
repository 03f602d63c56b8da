/** A client of PostgreSQL that listens. It is described by structure: the package imports no client. */

/** The parts of a `pg.Client` that the channel needs. */
export interface PostgresClientLike {
  /** Opens the connection. */
  connect(): Promise<unknown>;
  /** Runs a statement. */
  query(text: string, values?: unknown[]): Promise<unknown>;
  /** Closes the connection. */
  end(): Promise<unknown>;
  /** Calls `listener` for each notification of a channel that the connection listens to. */
  on(event: "notification", listener: (message: PostgresNotification) => void): unknown;
  /** Calls `listener` when the connection fails. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Calls `listener` when the connection has closed. */
  on(event: "end", listener: () => void): unknown;
}

/** A notification of PostgreSQL, as `pg` delivers it. */
export interface PostgresNotification {
  /** The channel of the notification. */
  channel: string;
  /** The text of the notification. */
  payload?: string | undefined;
}
