/** Replaces the file of this name in `example-app/shared/page`: the site has the documentation itself. */

/** The address of a file or folder of the repository; `undefined` if the address is not known. */
export function sourceOf(path: string): string | undefined {
  const doc = /^docs\/(?:README|(.+))\.md(#.+)?$/.exec(path);
  if (doc) return `${import.meta.env.BASE_URL}docs/${doc[1] ?? ""}${doc[2] ?? ""}`;
  const repository: unknown = import.meta.env["VITE_SITE_REPOSITORY"];
  return typeof repository === "string" ? `${repository}/blob/HEAD/${path}` : undefined;
}
