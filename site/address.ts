/** Where the site will be, and the address of the repository that it links to. */
import { readFileSync } from "node:fs";

interface PackageJson {
  name: string;
  repository?: string | { url: string };
}

export interface Address {
  /** The path of the site, with a slash at both ends. */
  base: string;
  /** `https://github.com/<owner>/<name>`; `undefined` while no repository is known. */
  repository: string | undefined;
  /** `https://<host>`, without a slash at its end; `undefined` while the host is not known. */
  origin: string | undefined;
}

/**
 * The repository is the one of `package.json`, or else the repository of the running workflow. On GitHub
 * Pages, the repository's name is the site's path.
 *
 * @param env `SITE_BASE` is another path, for another host, and `SITE_ORIGIN` is that host.
 * @throws Error if `SITE_BASE` is no path, or `SITE_ORIGIN` no host.
 */
export function addressOf(
  { name, repository }: PackageJson,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Address {
  const url = typeof repository === "string" ? repository : repository?.url;
  const named = /github(?:\.com[/:]|:)([\w.-]+\/[\w.-]+?)(?:\.git)?$/.exec(url ?? "")?.[1];
  const slug = named ?? env["GITHUB_REPOSITORY"];
  const [owner, project = name] = slug?.split("/") ?? [];
  const isOwnersSite = project.toLowerCase() === `${owner}.github.io`.toLowerCase();
  const base = env["SITE_BASE"] ?? (isOwnersSite ? "/" : `/${project}/`);
  if (!/^\/(?:.*\/)?$/.test(base)) {
    throw new Error(`SITE_BASE must begin and end with a slash, got "${base}"`);
  }
  // The site is on GitHub Pages if its path is that of the repository.
  const pages = slug === undefined || env["SITE_BASE"] !== undefined ? undefined : owner;
  const host = pages === undefined ? undefined : `https://${pages.toLowerCase()}.github.io`;
  const origin = env["SITE_ORIGIN"] ?? host;
  if (origin !== undefined && !/^https?:\/\/[^/\s]+$/.test(origin)) {
    throw new Error(`SITE_ORIGIN must be https://<host> without a path, got "${origin}"`);
  }
  const address = slug === undefined ? undefined : `https://github.com/${slug}`;
  return { base, repository: address, origin };
}

const PACKAGE = new URL("../package.json", import.meta.url);

/** The address of this site. */
export function readAddress(): Address {
  return addressOf(JSON.parse(readFileSync(PACKAGE, "utf8")) as PackageJson);
}
