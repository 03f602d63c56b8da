/** An application as `init` may find it, and what is right to do with it. */

export type Files = Readonly<Record<string, string>>;

/**
 * A text is looked for without regard to white space, quotes and trailing commas. An expression is
 * looked for in the text as it is.
 */
export type Fragment = string | RegExp;

export interface Plan {
  /** By file: what it contains afterwards. */
  written?: Readonly<Record<string, readonly Fragment[]>>;
  /** What some file gets, or the lines that are printed, where both are right. */
  somewhere?: readonly Fragment[];
  /** Files that stay as they were. */
  untouched?: readonly string[];
  /** Files that are changed, or have their lines printed. */
  handled?: readonly string[];
  /** What is printed beside the diffs. */
  printed?: readonly Fragment[];
  /** What no added line of a file has, and no printed line. */
  never?: readonly Fragment[];
}

export interface Shape {
  name: string;
  files: Files;
  /** The folders in which `init` gives the same. @default the root alone */
  places?: readonly string[];
  /** With `refused`, `init` writes nothing, and its error matches. */
  right: Plan | { refused: RegExp };
}

export const isRefused = (right: Shape["right"]): right is { refused: RegExp } =>
  "refused" in right;
