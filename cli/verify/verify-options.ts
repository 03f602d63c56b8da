/** The options of `verify`. */

/** The command that a process of the race runs. The help does not name it. */
export const RACER = "verify-racer";

export interface VerifyOptions {
  /** The application's folder. */
  root: string;
  /** The URL of the database. @default `DATABASE_URL` */
  url?: string | undefined;
  /** Does not ask. */
  yes: boolean;
  /** The version of this package. */
  version: string;
  /** The file of the command, which the processes of the race run. */
  program: string;
  /** Stops, and removes what was made. */
  signal: AbortSignal;
  /** Shows progress. */
  print: (text: string) => void;
  /** Shows what the user has to do. */
  warn: (text: string) => void;
}
