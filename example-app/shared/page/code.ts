/** The text of a file of the example, as `import code from "code:./minimal.tsx"` gives it. */

/** A text, or a text and what it is, such as a keyword. */
export type CodePiece = string | readonly [kind: string, text: string];

export interface Code {
  /** From the root of the repository. */
  path: string;
  text: string;
  lines: readonly (readonly CodePiece[])[];
}

/**
 * The address of a file or folder of the repository: where `package.json` says, or else at the demo's
 * own server. The site's has none for some.
 */
export function sourceOf(path: string): string | undefined {
  const repository: unknown = import.meta.env["VITE_REPOSITORY"];
  const isKnown = typeof repository === "string" && repository !== "";
  return isKnown ? `${repository}/blob/HEAD/${path}` : `/files/${path}`;
}
