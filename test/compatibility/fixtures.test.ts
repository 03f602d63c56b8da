/** A fixture is recorded once, from the code of its version. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ROOT } from "../docs/pages.js";
import { fixtureOfToday, loadFixtures, saveFixture } from "./fixtures.js";

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "fixtures-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

it("is recorded for a new version, and never again", async () => {
  const folder = await emptyFolder();
  await saveFixture(await fixtureOfToday("1.2.3"), folder);
  const parts = await readdir(join(folder, "1.2.3"));
  const [fixture] = loadFixtures(folder);
  expect(Object.keys(fixture!).sort()).toEqual(
    [...parts.map((part) => part.replace(".json", "")), "version"].sort(),
  );
  await expect(saveFixture(await fixtureOfToday("1.2.3"), folder)).rejects.toThrow(
    "version 1.2.3 has a fixture already",
  );
});

it("is not recorded for what is no version", async () => {
  const folder = await emptyFolder();
  for (const version of ["", "../1.0.0", "next"]) {
    await expect(saveFixture(await fixtureOfToday(version), folder)).rejects.toThrow(
      "not a version",
    );
  }
  expect(await readdir(folder)).toEqual([]);
});

it("is there for the version of package.json", async () => {
  const manifest = await readFile(join(ROOT, "package.json"), "utf8");
  const { version } = JSON.parse(manifest) as { version: string };
  const recorded = loadFixtures().map((fixture) => fixture.version);
  expect(recorded, `npm run compat:record -- ${version}`).toContain(version);
});
