/** The version of the package that `init` writes into package.json or a catalog. */
import { expect, it } from "vitest";
import { monorepo } from "../../../support/monorepo.js";
import { initIn } from "../../../support/run-init.js";

const withRange = (range: string) => {
  const files = monorepo({ packageManager: "pnpm" });
  const root = files["package.json"]!;
  return {
    ...files,
    "package.json": root.replace('"zod"', `"trpc-rate-limit": "${range}",\n    "zod"`),
  };
};

it("is in the catalog what the root has already", async () => {
  await using app = await initIn(withRange("~1.0.5"));
  expect(await app.read("pnpm-workspace.yaml")).toContain("  trpc-rate-limit: ~1.0.5\n");
  expect(await app.read("packages/api/package.json")).toContain('"trpc-rate-limit": "catalog:"');
});

it("is the path of a tarball from each package, because pnpm has no paths in a catalog", async () => {
  await using app = await initIn(withRange("file:../trpc-rate-limit.tgz"));
  expect(await app.read("pnpm-workspace.yaml")).not.toContain("trpc-rate-limit");
  for (const folder of ["packages/api", "apps/web"]) {
    expect(await app.read(`${folder}/package.json`)).toContain(
      '"trpc-rate-limit": "file:../../../trpc-rate-limit.tgz"',
    );
  }
});
