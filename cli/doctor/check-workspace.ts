/** Checks the versions that each package of a monorepo has installed. */
import { join } from "node:path";
import type { Project } from "../init/facts/project.js";
import { checkVersions, DIFFERENT, TRPC } from "./check-versions.js";
import { type Finding, warning } from "./finding.js";
import { versionOf } from "./load-package.js";

/** @param peers the ranges of this package's peers. */
export async function checkWorkspace(
  { root, api, users, db }: Project,
  peers: Readonly<Record<string, string>>,
): Promise<Finding[]> {
  const members = [...new Set([api, ...users])];
  const between = await differing(root, members);
  /** Each finding once, with the folders that have it. */
  const found = new Map<string, Finding & { folders: string[] }>();
  const folders = new Set([...members, ...(db ? [db.member] : [])].map(({ folder }) => folder));
  for (const folder of folders) {
    for (const finding of await checkVersions(join(root, folder), peers)) {
      if (between.length > 0 && finding.message.startsWith(DIFFERENT)) continue;
      const same = found.get(finding.message);
      if (same === undefined) found.set(finding.message, { ...finding, folders: [folder] });
      else same.folders.push(folder);
    }
  }
  const findings = [...found.values()].map(({ folders: all, ...finding }) => ({
    ...finding,
    message: `${all.join(", ")}: ${finding.message}`,
  }));
  return [...findings, ...between];
}

/**
 * Finds packages of tRPC in different versions: the types of the API are then of one version, and the
 * client is of another version.
 */
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
