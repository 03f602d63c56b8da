/**
 * The package beside a lockfile: npm installs it without a flag and moves no other package. The
 * application compiles, and one of its calls is denied.
 */
import { existsSync } from "node:fs";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, inject, it } from "vitest";
import { npmStep } from "../../cli/init/printed/trpc-10-steps.js";
import { ROOT } from "../docs/pages.js";
import { makeProject, TSC, writeConfig } from "../scaffolds/project.js";
import { createPostgres } from "../support/database.js";
import { isNightly, NIGHTLY_ONLY } from "../support/nightly.js";
import { CASES } from "./cases.js";
import { generateClient } from "./generate-client.js";

const FOLDERS = ["programs/", "../scaffolds/fixtures/alone/"].map((folder) =>
  fileURLToPath(new URL(folder, import.meta.url)),
);

it("tries the oldest version of each peer that package.json accepts", async ({ expect }) => {
  const { peerDependencies } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    peerDependencies: Record<string, string>;
  };
  const oldest = Object.entries(peerDependencies).map(
    ([name, range]) => `${name}@${/[\d.]+/.exec(range)![0]}`,
  );
  const tried = new Set(
    CASES.flatMap(({ packages, moves = [] }) =>
      packages.filter((text) => !moves.some((name) => text.startsWith(`${name}@`))),
    ),
  );
  expect(oldest.filter((text) => !tried.has(text))).toEqual([]);
});

describe("beside a lockfile", () => {
  it.concurrent.for(CASES)("with $title, nothing moves", async (wanted, { expect, skip }) => {
    const { title, packages, moves = [], database, generates = false, isDaily } = wanted;
    if (inject("unreachable")) skip(inject("unreachable"));
    if (!isDaily && !isNightly) skip(NIGHTLY_ONLY);
    await using project = await makeProject();
    await project.install(packages);
    const before = await lockedIn(project.root);
    if (wanted.overrides) await overridePeers(project.root);
    const flags = packages.filter((text) => text.startsWith("--"));
    const warnings = await project.install([inject("tarball"), ...flags]);
    expect(warnings).not.toContain("ERESOLVE");
    const { "trpc-rate-limit": _, ...after } = await lockedIn(project.root);
    const moved = [...Object.keys(before), ...Object.keys(after)].filter(
      (name) => before[name] !== after[name],
    );
    expect([...new Set(moved)]).toEqual(moves);

    if (generates) await generateClient(project);
    await writeProgram(project.root, wanted.program, packages);
    expect(await project.typeErrors(TSC)).toEqual([]);
    await using server = database && (await createPostgres());
    const args = ["program.js", ...(server ? [server.url] : [])];
    expect(await project.run(process.execPath, args)).toBe("granted, then denied\n");
    project.report(`beside ${title}`);
  });
});

/** Adds the lines that `init` prints for npm. */
async function overridePeers(root: string): Promise<void> {
  const file = join(root, "package.json");
  const json = JSON.parse(await readFile(file, "utf8")) as { dependencies: Record<string, string> };
  const [, lines] = /\n\n([^]*)$/.exec(npmStep([{ ranges: json.dependencies }]))!;
  await writeFile(file, JSON.stringify({ ...json, ...(JSON.parse(`{${lines}}`) as object) }));
}

/** The versions in the lockfile, by name; of nested packages by their place. */
async function lockedIn(root: string): Promise<Record<string, string | undefined>> {
  const { packages } = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { version?: string }>;
  };
  const own = Object.entries(packages).filter(([place]) => place !== "");
  return Object.fromEntries(
    own.map(([place, { version }]) => [place.replace(/^node_modules\//, ""), version]),
  );
}

async function writeProgram(root: string, name: string, packages: string[]): Promise<void> {
  const files = FOLDERS.flatMap((folder) => [`${folder}${name}.ts`, `${folder}${name}.tsx`]);
  const file = files.find((each) => existsSync(each))!;
  const extension = file.endsWith("x") ? "tsx" : "ts";
  await copyFile(file, join(root, `program.${extension}`));
  await writeConfig(root, `program.${extension}`, packages);
}
