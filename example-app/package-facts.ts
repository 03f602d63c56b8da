/**
 * The facts of package.json that the page shows: where the documentation and the sources are, and the
 * version.
 */
import { readFileSync } from "node:fs";

export interface PackageJson {
  version: string;
  homepage?: string | undefined;
  repository?: string | { url: string } | undefined;
}

export interface PackageFacts {
  /** The address of the repository at its host, without a slash at the end. Empty if there is none. */
  repository: string;
  /** The address of the documentation as pages, with a slash at the end. Empty if there is none. */
  docs: string;
  version: string;
}

export function factsOf({ version, homepage = "", repository }: PackageJson): PackageFacts {
  const url = (typeof repository === "string" ? repository : repository?.url) ?? "";
  // npm's own choice for a homepage is the repository's page, which is not the site.
  const isSite = /^https?:\/\/(?!(?:www\.)?(?:github|gitlab)\.com\/)/.test(homepage);
  return {
    repository: url.replace(/^git\+/, "").replace(/\.git$/, ""),
    docs: isSite ? `${homepage.replace(/\/$/, "")}/docs/` : "",
    version,
  };
}

export function readFacts(): PackageFacts {
  const file = new URL("../package.json", import.meta.url);
  return factsOf(JSON.parse(readFileSync(file, "utf8")) as PackageJson);
}
