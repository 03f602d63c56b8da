/**
 * A page of the reference:
 *
 * - a name, or `{ main, types }`: an exported function or class;
 * - `{ title, of, members }`: members of an interface, or of the result of a function;
 * - `{ title, types }`: types that several pages need. Without `about`, the page begins with the first
 *   type.
 *
 * A type that no page names stands on the first page that needs it.
 */
export type Page =
  | string
  | { main: string; types: readonly string[] }
  | {
      title: string;
      about?: string;
      of?: string;
      members?: readonly string[];
      types?: readonly string[] | undefined;
    };

/** The headings of an entry point, each with its pages, in the order in which a newcomer needs them. */
export type Sections = Record<string, readonly Page[]>;
