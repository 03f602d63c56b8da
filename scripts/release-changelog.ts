/**
 * Turns "Unreleased" of CHANGELOG.md into the section of the version in package.json. The date is below
 * the heading, because the release workflow finds the section by a heading with the version alone.
 * Nothing is changed if the version already has a section.
 */
import { readFileSync, writeFileSync } from "node:fs";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const text = readFileSync("CHANGELOG.md", "utf8");
const headings = text.split("\n").filter((line) => line.startsWith("## "));

if (!headings.includes(`## ${version}`)) {
  const heading = "## Unreleased\n";
  if (!text.includes(heading)) throw new Error(`CHANGELOG.md has no "## Unreleased"`);
  const date = new Date().toISOString().slice(0, 10);
  const released = `${heading}\n## ${version}\n\nReleased on ${date}.\n`;
  writeFileSync(
    "CHANGELOG.md",
    text.replace(heading, () => released),
  );
}
