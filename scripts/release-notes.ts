/** The notes of a release. */
import { readFileSync } from "node:fs";

/**
 * The section of a version in CHANGELOG.md, without its heading.
 *
 * @throws Error if there is no such section.
 */
export function notesOf(version: string, changelog = readFileSync("CHANGELOG.md", "utf8")): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`${version}\n`));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${version}"`);
  return section.slice(version.length).trim() + "\n";
}
