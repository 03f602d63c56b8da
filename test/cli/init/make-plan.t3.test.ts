/** `init` in applications as create-t3-app writes them. `diffs` contains the changes. */
import { describe, expect, it } from "vitest";
import { runCommand, runInit } from "../../support/run-init.js";
import { makeT3App } from "../../support/scaffold.js";

const PRISMA = "--prisma true --dbProvider sqlite";

const APPS = [
  { name: "prisma", flags: PRISMA },
  { name: "prisma-better-auth", flags: "--prisma true --betterAuth true --dbProvider postgres" },
  { name: "prisma-next-auth-mysql", flags: "--prisma true --nextAuth true --dbProvider mysql" },
  { name: "drizzle", flags: "--drizzle true --dbProvider sqlite" },
  { name: "drizzle-mysql", flags: "--drizzle true --betterAuth true --dbProvider mysql" },
  { name: "drizzle-postgres", flags: "--drizzle true --nextAuth true --dbProvider postgres" },
  { name: "no-database", flags: "--biome true" },
];

describe.each(APPS)("a T3 app: $name", ({ name, flags }) => {
  it("gets its table, its limits and its wiring, once", { timeout: 90_000 }, async ({ skip }) => {
    const app = await makeT3App(flags);
    if (typeof app === "string") return skip(app);
    await using _ = app;
    const scaffolded = await app.readAll();

    const planned = await runInit(app.root, { dryRun: true });
    expect(await app.readAll()).toEqual(scaffolded);

    await expect(planned).toMatchFileSnapshot(`diffs/${name}.txt`);
    const printed = await runInit(app.root);
    const wired = await app.readAll();
    expect(printed).toContain(planned.split("\nNothing was written")[0]);
    expect(wired["src/server/api/trpc.ts"]).toContain("createRateLimitTRPC({");
    expect(Object.keys(wired).filter((file) => file.endsWith(".tmp"))).toEqual([]);

    expect(await runInit(app.root)).toMatch(/^Nothing to change: the limits are in /);
    expect(await app.readAll()).toEqual(wired);
  });
});

describe("a T3 app with another alias", () => {
  it("imports by that alias", { timeout: 90_000 }, async ({ skip }) => {
    const app = await makeT3App(PRISMA);
    if (typeof app === "string") return skip(app);
    await using _ = app;
    for (const [file, text] of Object.entries(await app.readAll())) {
      if (/\.tsx?$|tsconfig/.test(file)) await app.write(file, text.replaceAll('"~/', '"@/'));
    }
    await runInit(app.root);
    expect(await app.read("src/server/api/limits.ts")).toContain(
      'import { db } from "@/server/db";',
    );
    expect(await app.read("src/server/api/root.ts")).toContain(
      'rateLimitRouter,\n} from "@/server/api/trpc";',
    );
    expect(await app.read("src/server/api/trpc.ts")).toContain('from "@/server/api/limits";');
  });
});

describe("a T3 app that was changed", () => {
  it(
    "keeps a file that init does not recognise, and those that need it",
    { timeout: 90_000 },
    async ({ skip }) => {
      const app = await makeT3App(PRISMA);
      if (typeof app === "string") return skip(app);
      await using _ = app;
      const file = "src/server/api/trpc.ts";
      const changed = (await app.read(file)).replace(
        /errorFormatter\(\{[\s\S]*?\n {2}\},/,
        "errorFormatter: formatError,",
      );
      await app.write(file, changed);
      const root = await app.read("src/server/api/root.ts");

      const printed = await runInit(app.root);

      expect(await app.read(file)).toBe(changed);
      expect(await app.read("src/server/api/root.ts")).toBe(root);
      expect(printed).toContain(`By hand, in ${file} (it has no place that is known):`);
      expect(printed).toContain(`By hand, in src/server/api/root.ts (it comes after ${file}):`);
      expect(printed).toContain("formatRateLimitError(shape, error, limiter)");
      expect(printed).toContain("rateLimit: rateLimitRouter,");
      expect(await app.read("prisma/schema.prisma")).toContain("model RateLimit {");
    },
  );

  it(
    "is wired after a formatter has changed its quotes, indentation and line ends",
    { timeout: 90_000 },
    async ({ skip }) => {
      const app = await makeT3App(PRISMA);
      if (typeof app === "string") return skip(app);
      await using _ = app;
      for (const [file, text] of Object.entries(await app.readAll())) {
        if (!/^src.*\.tsx?$|\.prisma$/.test(file)) continue;
        const tabs = text.replace(/^(?: {2})+/gm, (spaces) => "\t".repeat(spaces.length / 2));
        const quoted = file.endsWith(".prisma") ? tabs : tabs.replaceAll('"', "'");
        await app.write(file, quoted.replaceAll("\n", "\r\n"));
      }
      expect(await runInit(app.root)).not.toContain("By hand");
      const trpc = await app.read("src/server/api/trpc.ts");
      expect(trpc).toContain(
        "\r\n\t\treturn formatRateLimitError(\r\n\t\t\t{\r\n\t\t\t\t...shape,\r\n",
      );
      expect(trpc.replaceAll("\r\n", "")).not.toContain("\n");
      expect(await app.read("src/trpc/react.tsx")).toContain("\t\t\t\t<RateLimitProvider client");
    },
  );
});

describe("the command", () => {
  it(
    "writes nothing without a terminal, unless it is told to",
    { timeout: 90_000 },
    async ({ skip }) => {
      const app = await makeT3App(PRISMA);
      if (typeof app === "string") return skip(app);
      await using _ = app;
      const scaffolded = await app.readAll();
      const refused = await runCommand(app.root, ["init"]);
      expect(refused).toMatchObject({
        code: 1,
        stdout: expect.stringContaining("+model RateLimit {"),
      });
      expect(refused.stderr).toContain("Run it with --yes");
      expect(await app.readAll()).toEqual(scaffolded);

      expect(await runCommand(app.root, ["init", "--yes", "--no-install"])).toMatchObject({
        code: 0,
        stderr: "",
      });
      expect(await app.read("package.json")).toMatch(/"trpc-rate-limit": "\^\d+\.\d+\.\d+",\n/);
    },
  );

  it("says what is wrong with its arguments", async () => {
    const { code, stderr } = await runCommand(".", ["init", "--dry"]);
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("--dry") });
    expect((await runCommand(".", ["int"])).stderr).toBe(
      "unknown command; use init, doctor or verify, and see trpc-rate-limit --help\n",
    );
  });
});
