/** What the packages of a monorepo have installed, each for itself. */
import { access } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { realpath } from "node:fs/promises";
import type { Workspace } from "../init/workspace/workspace.js";
import { checkVersions, TRPC } from "./check-versions.js";
import { failure, type Finding, ok, warning } from "./finding.js";
import { versionOf } from "./load-package.js";

/** @param peers the ranges of this package's peers. */
export async function checkWorkspace(
  { root, api, users }: Workspace,
  peers: Readonly<Record<string, string>>,
): Promise<Finding[]> {
  const members = [api, ...users];
  const findings: Finding[] = [];
  for (const { folder } of members) {
    for (const finding of await checkVersions(join(root, folder), peers)) {
      findings.push({ ...finding, message: `${folder}: ${finding.message}` });
    }
  }
  findings.push(...(await differing(root, members)), ...(await unreachable(root, api.folder)));
  return findings;
}

/** The types of the API are those of one version, and the client is of another one. */
async function differing(root: string, members: readonly { folder: string }[]): Promise<Finding[]> {
  const found = new Map<string, string>();
  for (const { folder } of members) {
    for (const name of TRPC) {
      const version = await versionOf(join(root, folder), name);
      if (version !== undefined) found.set(`${name} ${version} of ${folder}`, version);
    }
  }
  if (new Set(found.values()).size < 2) return [];
  return [
    warning(
      "versions",
      `the packages have different versions of tRPC: ${[...found.keys()].join(", ")}`,
      "name one version in all of them; otherwise types and links do not fit together",
    ),
  ];
}

/** Drizzle is installed for the API, and this package may be in a folder that cannot see it. */
async function unreachable(root: string, api: string): Promise<Finding[]> {
  const place = await placeOf(join(root, api));
  const version = await versionOf(join(root, api), "drizzle-orm");
  if (place === undefined || version === undefined) return [];
  const seen = await versionOf(place, "drizzle-orm");
  if (seen === version) return [ok("drizzle", `trpc-rate-limit finds drizzle-orm ${version}`)];
  const where = relative(root, dirname(place)).split(sep).join("/");
  const message =
    seen === undefined
      ? `trpc-rate-limit is in ${where}, where drizzle-orm is not installed`
      : `trpc-rate-limit in ${where} finds drizzle-orm ${seen}, and ${api} has ${version}`;
  return [
    failure("drizzle", message, `add "drizzle-orm": "${version}" to package.json of the root`),
  ];
}

async function placeOf(folder: string): Promise<string | undefined> {
  const place = join(folder, "node_modules", "trpc-rate-limit");
  const isThere = await access(place).then(
    () => true,
    () => false,
  );
  // Some package managers install a link, whose target sees the packages beside it.
  if (isThere) return realpath(place);
  const parent = dirname(folder);
  return parent === folder ? undefined : placeOf(parent);
}
