/**
 * Records what the code of today writes and accepts, as the fixture of a version. The version is the one
 * that is given, or else that of package.json, unless it has a fixture already.
 */
import { readFileSync } from "node:fs";
import { fixtureOfToday, loadFixtures, saveFixture } from "./fixtures.js";

const [given] = process.argv.slice(2);
const manifest = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const version = given ?? manifest.version;
const isRecorded = loadFixtures().some((fixture) => fixture.version === version);

if (isRecorded && given === undefined) {
  console.log(`version ${version} has a fixture`);
} else {
  await saveFixture(await fixtureOfToday(version));
  console.log(`recorded test/compatibility/fixtures/${version}`);
}
