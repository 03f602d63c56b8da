/** What `init` wants to do in an application. It is made in memory first, and written afterwards. */

/** A file to write. Line ends are `\n`; those of the file itself are restored when it is written. */
export interface Change {
  /** Relative to the project's root, with `/`. */
  file: string;
  /** `undefined` for a file that does not exist yet. */
  before: string | undefined;
  after: string;
}

/** What the application's author has to do, because `init` does not recognise the file. */
interface ByHand {
  file: string;
  why: string;
  lines: string;
}

export interface Plan {
  changes: Change[];
  byHand: ByHand[];
  /** What was there already. */
  present: string[];
  /** What the author should know of a choice that was made. */
  notes: string[];
  /** The command that installs what package.json names. */
  install?: readonly [command: string, ...args: string[]];
  /** What else the author has to know or to run, in order. */
  next: string[];
}
