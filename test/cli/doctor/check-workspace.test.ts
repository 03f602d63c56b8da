/** `doctor` in a monorepo: the packages that each of its packages has installed, and their database. */
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { doctor } from "../../../cli/doctor/doctor.js";
import { makeFolder } from "../../support/scaffold.js";
import { monorepo } from "../../support/monorepo.js";
import { initIn } from "../../support/run-init.js";
import { ROOT } from "../../docs/pages.js";
import { mkdir, symlink } from "node:fs/promises";

beforeEach(() => void vi.stubEnv("DATABASE_URL", ""));
afterEach(() => vi.unstubAllEnvs());

const installed = (folder: string, name: string, version: string) => ({
  [`${folder}/node_modules/${name}/package.json`]: `{ "version": "${version}" }`,
});

describe("doctor in a monorepo", () => {
  it.each(["", "packages/db", "apps/server"])(
    "finds the database of the server and its table, run in the folder %j",
    async (place) => {
      await using app = await initIn(monorepo());
      await mkdir(join(app.root, "packages/db/node_modules/@libsql"), { recursive: true });
      await symlink(
        join(ROOT, "node_modules/@libsql/client"),
        join(app.root, "packages/db/node_modules/@libsql/client"),
      );
      const client = createClient({ url: `file:${join(app.root, "local.db")}` });
      await client.execute(
        `CREATE TABLE rate_limits (name TEXT NOT NULL, key TEXT NOT NULL DEFAULT '', ` +
          `shard INTEGER NOT NULL DEFAULT 0, used REAL NOT NULL, ts REAL NOT NULL, ` +
          `PRIMARY KEY (name, key, shard))`,
      );
      client.close();
      const findings = await doctor({ root: join(app.root, place), peers: {} });
      expect(findings).toContainEqual(
        expect.objectContaining({
          check: "table",
          level: "ok",
          message: 'table "rate_limits" is one of limits',
        }),
      );
    },
  );

  it("says where it has looked for the URL", async () => {
    await using app = await makeFolder({ ...monorepo(), "apps/server/.env": "" });
    await expect(doctor({ root: app.root, peers: {} })).rejects.toThrow(
      "of the workspace or its packages",
    );
  });

  it("warns once of a version that several packages have", async () => {
    await using app = await makeFolder({
      ...monorepo(),
      "node_modules/drizzle-orm/package.json": `{ "version": "0.28.6" }`,
    });
    const found = await doctor({ root: app.root, peers: {} });
    const warnings = found.filter(({ message }) => message.includes("drizzle-orm is 0.28.6"));
    expect(warnings.map(({ message }) => message.split(":")[0])).toEqual([
      "packages/api, apps/server, apps/web, packages/db",
    ]);
  });

  it("finds packages with different versions of tRPC", async () => {
    await using app = await makeFolder({
      ...monorepo(),
      ...installed("packages/api", "@trpc/server", "11.25.2"),
      ...installed("apps/web", "@trpc/client", "11.22.1"),
    });
    const findings = await doctor({ root: app.root, peers: {} });
    expect(findings).toContainEqual(
      expect.objectContaining({
        check: "versions",
        level: "warning",
        message: expect.stringContaining(
          "@trpc/server 11.25.2 of packages/api, @trpc/client 11.22.1 of apps/web",
        ) as string,
      }),
    );
  });
});
