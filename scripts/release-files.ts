/**
 * Writes the other files of a release into a folder: the notes, which are the section of CHANGELOG.md,
 * and a list of all packages from which the release was built (SBOM, CycloneDX). Prints the outputs of
 * the step: the version, and whether the registry does not have the version yet.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { notesOf } from "./release-notes.js";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("name the folder: release-files.ts <folder>");
const { name, version } = JSON.parse(readFileSync("package.json", "utf8")) as {
  name: string;
  version: string;
};

const sbom = execFileSync("npm", ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx"], {
  maxBuffer: 2 ** 28,
});
writeFileSync(join(folder, `${name}-${version}.cdx.json`), sbom);

// npm reports E404 for a missing version. Any other failure must not count as a missing version.
const view = spawnSync("npm", ["view", `${name}@${version}`, "version", "--json"], {
  encoding: "utf8",
});
const isMissing = view.status === 0 ? view.stdout.trim() === "" : view.stdout.includes("E404");
if (view.status !== 0 && !isMissing) throw new Error(`npm view failed: ${view.stderr}`);
if (isMissing) writeFileSync(join(folder, "notes.md"), notesOf(version));

console.log(`version=${version}\nisNew=${isMissing}`);
