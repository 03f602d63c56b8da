/**
 * Applications without tRPC that `init` wires, with no line by hand: built, started as for production,
 * and opened in Chromium, where the button of each counts down after the limit.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@libsql/client";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { ROOT } from "../docs/pages.js";
import { launchChromium } from "../support/chromium.js";
import { isNightly, NIGHTLY_ONLY } from "../support/nightly.js";
import { MAIN } from "../support/run-init.js";
import { makeProject, type Project } from "./project.js";

/** `npm run install:test-projects` installs this one. */
const NODE_24 = join(ROOT, "test/node-24/node_modules/node/bin/node");
const TSX = "node_modules/tsx/dist/cli.mjs";

interface Case {
  host: string;
  fixture: string;
  /** The folder of `limits.ts`. */
  server: string;
  build: readonly string[];
  serve: readonly string[];
  /** The path of the route that the button calls; `undefined` for a server function. */
  route?: string;
  needsNode24?: boolean;
}

const CASES: readonly Case[] = [
  {
    host: "Hono with React",
    fixture: "hono",
    server: "server",
    build: ["node_modules/vite/bin/vite.js", "build"],
    serve: [TSX, "server/index.ts"],
    route: "/api/posts",
  },
  {
    host: "Express with React Router",
    fixture: "express",
    server: "server",
    build: ["node_modules/@react-router/dev/bin.cjs", "build"],
    serve: [TSX, "server/index.ts"],
    route: "/api/posts",
    needsNode24: true,
  },
  {
    host: "Next",
    fixture: "next",
    server: "server",
    build: ["node_modules/next/dist/bin/next", "build"],
    serve: ["node_modules/next/dist/bin/next", "start", "-p"],
    route: "/api/posts",
  },
  {
    host: "TanStack Start",
    fixture: "start",
    server: "src/server",
    build: ["node_modules/vite/bin/vite.js", "build"],
    serve: ["main.js"],
    needsNode24: true,
  },
];
/** By day one of them: the others take a minute or more each. */
const DAILY = "Hono with React";

let browser: Browser | undefined;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

describe.each(CASES)("an application of $host without tRPC", ({ host, ...app }) => {
  it("is wired by init to a button that counts down, with no line by hand", async ({ skip }) => {
    if (inject("unreachable")) skip(inject("unreachable"));
    if (host !== DAILY && !isNightly) skip(NIGHTLY_ONLY);
    if (app.needsNode24 && !existsSync(NODE_24)) skip("needs npm run install:test-projects");
    const node = app.needsNode24 ? NODE_24 : process.execPath;
    const fixture = new URL(`fixtures/http/${app.fixture}/`, import.meta.url);
    await using project = await makeProject(fileURLToPath(fixture));
    // With its packages, so that its compiler checks what init writes.
    await project.install([]);
    const init = () => project.run(process.execPath, [MAIN, "init", "--yes", "--no-install"]);
    const printed = await init();
    expect(printed).toContain("no new error.");
    expect(printed).not.toContain("By hand");
    expect(printed).not.toContain("show the wait");
    expect(await init()).toMatch(/Nothing to change/);
    expect(await project.install([inject("tarball")])).not.toContain("ERESOLVE");

    const env = await makeTable(project, app.server);
    await project.run(node, app.build, { env });
    expect(await project.typeErrors(join(project.root, "node_modules/.bin/tsc"))).toEqual([]);
    await using server = await project.serve(app.serve, env, node);
    await expectCountdown(server.url);
    if (app.route !== undefined) {
      const denied = await fetch(server.url + app.route, { method: "POST" });
      expect(denied.status).toBe(429);
      expect(denied.headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
    }
    const doctor = [MAIN, "doctor", "--app", `${server.url}/api/limits`];
    expect(await project.run(process.execPath, doctor, { env })).toContain("live updates arrive");
    project.report(host);
  });
});

async function makeTable({ root }: Project, folder: string): Promise<Record<string, string>> {
  const url = `file:${join(root, "app.db")}`;
  const client = createClient({ url });
  await client.executeMultiple(await readFile(join(root, folder, "rate-limit.sql"), "utf8"));
  client.close();
  return { DATABASE_URL: url, NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" };
}

/** Three posts, the wait on the button, and a fourth post after it, which takes the last token. */
async function expectCountdown(url: string): Promise<void> {
  const page = await browser!.newPage();
  const problems: string[] = [];
  page.on("pageerror", ({ message }) => problems.push(message));
  page.on("console", (message) => {
    const isOurs = !message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && isOurs) problems.push(message.text());
  });
  await page.goto(url);
  const ready = page.locator('button[data-state="ready"]');
  for (const count of [1, 2, 3]) {
    await ready.click();
    await page.getByText(`Posted: ${count}`).waitFor();
  }
  const waiting = page.locator('button[data-state="waiting"]');
  await waiting.filter({ hasText: /Wait [1-6] s/ }).waitFor();
  await ready.filter({ hasText: "Post" }).click();
  await page.getByText("Posted: 4").waitFor();
  await waiting.waitFor();
  expect(problems).toEqual([]);
  await page.close();
}
