/** Where the site will be, and where the repository is that it links to. */
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
}

/**
 * The repository is the one of `package.json`. Without one it is that of the workflow that runs. On
 * GitHub Pages, the repository's name is the site's path.
 *
 * @param env `SITE_BASE` is another path, for another host.
 * @throws Error if `SITE_BASE` is no path.
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
  return { base, repository: slug === undefined ? undefined : `https://github.com/${slug}` };
}

const PACKAGE = new URL("../package.json", import.meta.url);

/** The address of this site. */
export function readAddress(): Address {
  return addressOf(JSON.parse(readFileSync(PACKAGE, "utf8")) as PackageJson);
}

/** Opens the starter in an editor in the browser, with a server of its own. */
export function starterOf(repository: string): string {
  return `${repository.replace("https://github.com/", "https://stackblitz.com/github/")}/tree/main/site/starter`;
}
