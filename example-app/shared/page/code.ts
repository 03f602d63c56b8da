/** The text of a file of the example, as `import code from "code:./minimal.tsx"` gives it. */

/** A text, or a text and its kind, such as a keyword. */
export type CodePiece = string | readonly [kind: string, text: string];

export interface Code {
  /** From the root of the repository. */
  path: string;
  text: string;
  lines: readonly (readonly CodePiece[])[];
}

/**
 * The address at which a file or folder of the repository can be read: a page of the documentation's
 * site, if that is the homepage of package.json, or else the file at the repository's host. `undefined`
 * if neither address is known.
 */
export function sourceOf(path: string): string | undefined {
  const doc = /^docs\/(?:README|(.+))\.md(#.+)?$/.exec(path);
  const docs = known(import.meta.env["VITE_DOCS"]);
  if (doc && docs !== undefined) return `${docs}${doc[1] ?? ""}${doc[2] ?? ""}`;
  const repository = known(import.meta.env["VITE_REPOSITORY"]);
  return repository === undefined ? undefined : `${repository}/blob/HEAD/${path}`;
}

function known(address: unknown): string | undefined {
  return typeof address === "string" && address !== "" ? address : undefined;
}
