/**
 * The changes that `init` wants to make in an application. A plan is made in memory first, and written
 * afterwards.
 */

/**
 * A file to write. Line ends are `\n`; the line ends of the file itself are restored when it is written.
 */
export interface Change {
  /** The path, relative to the project's root, with `/`. */
  file: string;
  /** `undefined` for a file that does not exist yet. */
  before: string | undefined;
  after: string;
}

/** A change that the application's author has to make, because `init` does not recognise the file. */
interface ByHand {
  file: string;
  why: string;
  lines: string;
}

export interface Plan {
  changes: Change[];
  byHand: ByHand[];
  /** The files that needed no change. */
  present: string[];
  /** The choices that the author should know of. */
  notes: string[];
  /** The command that installs the packages of package.json. */
  install?: readonly [command: string, ...args: string[]];
  /** The further steps that the author has to take, in order. */
  next: string[];
}

/** Why edits of a file are left to its author; `undefined` for a file that may be edited. */
export type WhyRefused = (file: string) => string | undefined;
