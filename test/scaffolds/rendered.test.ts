/**
 * Frameworks that render pages on the server and cache them: Next 16 with its cache of components,
 * and TanStack Start. Each is built and started as for production, and opened in Chromium.
 */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@libsql/client";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { readMigrations } from "../../example-app/shared/server/migrate.js";
import { ROOT } from "../docs/pages.js";
import { launchChromium } from "../support/chromium.js";
import { isNightly, NIGHTLY_ONLY } from "../support/nightly.js";
import { makeProject, type Project, type Server } from "./project.js";
import { COUNTDOWN } from "../support/countdown.js";

const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}/`, import.meta.url));
/** TanStack Start needs Node 22. `npm run install:test-projects` installs this one. */
const NODE_24 = join(ROOT, "test/node-24/node_modules/node/bin/node");

let browser: Browser | undefined;
beforeAll(async () => {
  if (isNightly) browser = await launchChromium();
});
afterAll(() => browser?.close());

const user = (name: string) => ({ cookie: `user=${name}` });

async function makeDatabase({ root }: Project): Promise<Record<string, string>> {
  const url = `file:${join(root, "limits.db")}`;
  const client = createClient({ url });
  const migrations = await readMigrations(join(ROOT, "prisma/migrations"));
  await client.batch(migrations.flatMap(({ statements }) => statements));
  client.close();
  return { DATABASE_URL: url, NEXT_TELEMETRY_DISABLED: "1" };
}

const ping = (server: Server, name: string) =>
  fetch(`${server.url}/api/trpc/ping`, {
    method: "POST",
    headers: { "content-type": "application/json", ...user(name) },
    body: "{}",
  });

async function htmlOf(server: Server, name: string): Promise<string> {
  const answer = await fetch(server.url, { headers: user(name) });
  expect(answer.status).toBe(200);
  return answer.text();
}

/** What the server has written into the page for this caller. */
const leftIn = (html: string) => /Posts left: (\d)/.exec(html)?.[1];

/** A page that a caller has opened: three posts, the countdown, and the button open again. */
async function expectLivePage(server: Server, name: string): Promise<void> {
  const context = await browser!.newContext();
  await context.addCookies([{ name: "user", value: name, url: server.url }]);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", ({ message }) => problems.push(message));
  page.on("console", (message) => {
    const isOurs = !message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && isOurs) problems.push(message.text());
  });
  await page.goto(server.url);
  await page.getByText("(live)").waitFor();
  for (const left of [2, 1]) {
    await page.getByRole("button", { name: "Post" }).click();
    await page.getByText(`Posts left: ${left}`).waitFor();
  }
  await page.getByRole("button", { name: "Post" }).click();
  await page.locator(COUNTDOWN).waitFor();
  expect(await page.locator(COUNTDOWN).textContent()).toMatch(/^[1-6]s$/);
  await page.getByRole("button", { name: "Post" }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
}

it("Next 16 caches its own components and never a status, and its proxy answers denials", async ({
  skip,
}) => {
  if (!isNightly) skip(NIGHTLY_ONLY);
  if (inject("unreachable")) skip(inject("unreachable"));
  await using project = await makeProject(fixture("next"));
  expect(await project.install([inject("tarball")])).not.toContain("ERESOLVE");
  const env = { ...(await makeDatabase(project)), TRUSTED_PROXIES: "1" };
  await project.run(join(project.root, "node_modules/.bin/next"), ["build"], { env });

  await using server = await project.serve(["node_modules/next/dist/bin/next", "start", "-p"], env);
  const newsIn = (html: string) => /News of [^<]+Z/.exec(html)?.[0];
  const before = await htmlOf(server, "ada");
  expect(leftIn(before)).toBe("3");
  expect((await ping(server, "ada")).status).toBe(200);
  const after = await htmlOf(server, "ada");
  expect([leftIn(after), leftIn(await htmlOf(server, "grace"))]).toEqual(["2", "3"]);
  // The cache was used, and so its absence is no accident.
  expect(newsIn(before)).toBeDefined();
  expect(newsIn(after)).toBe(newsIn(before));

  const limited = (address: string) =>
    fetch(`${server.url}/api/limited`, { headers: { "x-forwarded-for": address } });
  for (let call = 0; call < 20; call++) expect((await limited("192.0.2.1")).status).toBe(200);
  const denied = await limited("192.0.2.1");
  expect(denied.status).toBe(429);
  expect(denied.headers.get("Retry-After")).toMatch(/^\d+$/);
  expect(await denied.json()).toMatchObject({ kind: "RateLimited", name: "perAddress" });
  expect((await limited("192.0.2.2")).status).toBe(200);

  await expectLivePage(server, "alan");
  project.report("next 16");
});

it("TanStack Start prefetches a status in its loader, and limits a server function", async ({
  skip,
}) => {
  if (!isNightly) skip(NIGHTLY_ONLY);
  if (inject("unreachable")) skip(inject("unreachable"));
  if (!existsSync(NODE_24)) skip("needs npm run install:test-projects, for Node 24");
  await using project = await makeProject(fixture("start"));
  expect(await project.install([inject("tarball")])).not.toContain("ERESOLVE");
  const env = await makeDatabase(project);
  await project.run(NODE_24, ["node_modules/vite/bin/vite.js", "build"], { env });
  expect(await project.typeErrors(join(project.root, "node_modules/.bin/tsc"))).toEqual([]);
  // Server code, with the limiter, must not reach the browser.
  const folder = join(project.root, "dist/client/assets");
  const files = await readdir(folder);
  const assets = (
    await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")))
  ).join("\n");
  expect(assets).toContain("rateLimit");
  expect(assets).not.toContain("libsql");

  await using server = await project.serve(["main.js"], env, NODE_24);
  expect(leftIn(await htmlOf(server, "ada"))).toBe("3");
  for (let call = 0; call < 3; call++) expect((await ping(server, "ada")).status).toBe(200);
  const denied = await ping(server, "ada");
  expect(denied.status).toBe(429);
  expect(await denied.json()).toMatchObject({
    error: { data: { rateLimit: { kind: "RateLimited", name: "createPost" } } },
  });
  expect(leftIn(await htmlOf(server, "ada"))).toBe("0");

  await expectLivePage(server, "alan");
  const context = await browser!.newContext();
  const page = await context.newPage();
  await page.goto(server.url);
  await page.getByText("(").waitFor();
  await page.getByRole("button", { name: "Feedback" }).click();
  await page.getByText("Thank you").waitFor();
  await page.getByRole("button", { name: "Feedback" }).click();
  await page.getByText("Denied by feedback").waitFor();
  await context.close();
  project.report("tanstack start");
});
