/** An application and a package with the database, in a workspace in which nothing else uses the API. */
import { describe, expect, it } from "vitest";
import { findTable } from "../../../../cli/doctor/find-table.js";
import { placesOf } from "../../../../cli/doctor/places.js";
import { applicationWithDatabase } from "../../../support/application-with-database.js";
import { withPackages } from "../../../support/odd-project.js";
import { initIn, runInit } from "../../../support/run-init.js";
import { makeFolder } from "../../../support/scaffold.js";

describe.each(["", "apps/web", "packages/database"])("run in the folder %j, init", (place) => {
  it("keeps the limits in the database of the package", async () => {
    await using app = await makeFolder(applicationWithDatabase());
    const printed = await runInit(`${app.root}/${place}`);
    const limits = await app.read("apps/web/src/trpc/limits.ts");
    // As the application itself imports it, and not by a file of the build.
    expect(limits).toContain('import { prisma } from "@poll/database/db";');
    expect(limits).toContain("prismaStore(prisma)");
    expect(limits).not.toMatch(/memoryStore|\bpg\b/);
    const model = await app.read("packages/database/prisma/rate-limit.prisma");
    expect(model).toContain('@@map("rate_limits")');
    expect(model).toContain('@@map("rate_limits_override")');
    expect(await app.read("apps/web/package.json")).toContain('"trpc-rate-limit": "^1.2.3",');
    expect(printed).toContain(
      "\nNext:\n1. pnpm install\n2. pnpm run db:migrate\n3. pnpm run db:generate\n",
    );
    expect(printed).not.toMatch(/\bpnpm add|\bnpm install|\bnpx prisma/);
    expect(await runInit(`${app.root}/${place}`)).not.toMatch(/^\+\+\+/m);
  });

  it("lets doctor find the name of the table", async () => {
    await using app = await initIn(applicationWithDatabase());
    const { schema } = await placesOf(`${app.root}/${place}`.replace(/\/$/, ""));
    expect(await findTable(schema)).toBe("rate_limits");
  });
});

it("adds the package of the database to an application that has it by its server only", async () => {
  const files = applicationWithDatabase();
  const file = "apps/web/package.json";
  files[file] = files[file]!.replace('    "@poll/database": "workspace:*",\n', "");
  await using app = await initIn(files);
  expect(await app.read(file)).toContain('"@poll/database": "workspace:*",');
});

it("names the usual model where the other models are not mapped to such names", async () => {
  const file = "packages/database/prisma/models/user.prisma";
  await using app = await initIn(
    applicationWithDatabase({
      [file]:
        'model User {\n  id Int @id\n}\n\nmodel Poll {\n  id Int @id\n\n  @@map("polls")\n}\n\nmodel Vote {\n  id Int @id\n}\n',
    }),
  );
  expect(await app.read("packages/database/prisma/rate-limit.prisma")).not.toContain("@@map");
});

it("writes the model into another file where the schema has a file of its name", async () => {
  const file = "packages/database/prisma/rate-limit.prisma";
  await using app = await initIn(
    applicationWithDatabase({
      [file]: 'model Attempts {\n  id Int @id\n\n  @@map("rate_limits")\n}\n',
    }),
  );
  const model = await app.read("packages/database/prisma/trpc-rate-limit.prisma");
  expect(model).toContain("model TrpcRateLimit {");
  expect(model).toContain('@@map("trpc_rate_limit")');
  expect(app.printed).toContain("There is model Attempts in prisma/rate-limit.prisma, so");
});

describe("the root of a workspace", () => {
  const root = { "package.json": `{ "workspaces": ["apps/*", "packages/*"] }\n` };

  it("of one application without tRPC is as its folder", async () => {
    await using app = await makeFolder({
      ...root,
      "apps/api/package.json": withPackages("express", "pg"),
      "apps/api/src/db.js": `import pg from "pg";\n\nexport const pool = new pg.Pool();\n`,
      "packages/ui/package.json": withPackages("react"),
    });
    expect(await runInit(app.root)).toContain("+++ b/apps/api/src/limits.js");
    expect(await app.read("apps/api/src/limits.js")).toContain('import { pool } from "./db.js";');
  });

  it("is refused for PlanetScale by the reason of the application", async () => {
    await using app = await makeFolder({
      ...root,
      "apps/web/package.json": withPackages("@planetscale/database", "next"),
    });
    await expect(runInit(app.root)).rejects.toThrow("PlanetScale, whose Vitess cannot keep limits");
  });
});
