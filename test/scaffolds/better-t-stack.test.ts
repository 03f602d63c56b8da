/**
 * New monorepos of create-better-t-stack: wired by `init`, installed by `npm install` without a flag,
 * built, and used with a browser. By hand, the tests change only the procedures that are to be limited.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { launchChromium } from "../support/chromium.js";
import { bun, NO_BUN } from "../support/bun.js";
import { NO_NODE_24, node24 } from "../support/node-24.js";
import { freePort } from "../support/free-port.js";
import { isNightly, NIGHTLY_ONLY } from "../support/nightly.js";
import { MAIN } from "../support/run-init.js";
import {
  avoidMissing,
  commandOf,
  ENV,
  install,
  openDatabase,
  scaffold,
  scaffoldBy,
  SHAPES,
  STACKS,
  start,
  takeLibsql,
  useLimits,
  usePacked,
} from "./better-t-stack.js";
import { makeProject, type Project } from "./project.js";

/** Next alone takes minutes to be installed and built on a machine that others use, too. */
const PATIENCE = 900_000;

describe.each(STACKS)("create-better-t-stack with $title", (stack) => {
  it(
    "is wired, installs without a flag, denies the fourth call, and shows the countdown",
    async ({ skip }) => {
      if (inject("unreachable")) skip(inject("unreachable"));
      if (node24 === undefined) skip(NO_NODE_24);
      if (stack.runtime === "bun" && bun === undefined) skip(NO_BUN);
      if (stack.isNightly && !isNightly) skip(NIGHTLY_ONLY);
      await using parent = await makeProject();
      const app = await scaffold(parent, stack);
      await avoidMissing(app, stack);
      const init = () => app.run(node24!, [MAIN, "init", "--yes", "--no-install"], { env: ENV });
      const printed = await init();
      expect(printed).not.toContain("By hand");
      expect(await init()).toMatch(/^Nothing to change/);
      await takeLibsql(app, printed);
      await usePacked(app, stack, inject("tarball"));
      const warnings = await install(app, stack);
      expect(warnings).not.toContain("ERESOLVE");

      const ports = { server: await freePort(), web: await freePort() };
      await using database = await openDatabase(stack, app.root);
      await useLimits(app, stack, ports, database.url);
      await database.migrate(app);
      const run = (...args: string[]) => app.run(...commandOf(stack, ...args), { env: ENV });
      const types = await run("tsc", "-p", "packages/api", "--noEmit");
      expect(types).not.toContain("error TS");
      await run("turbo", "run", "build");
      const web = await run("tsc", "-p", "apps/web", "--noEmit");
      expect(web).not.toContain("error TS");
      const doctor = await app.run(node24!, [MAIN, "doctor"], { env: ENV });
      expect(doctor).toMatch(/ok +table: table "(rate_limits|RateLimit)" is one of limits/);
      expect(doctor).toContain("0 errors");

      await using server =
        stack.runtime === "bun"
          ? await start(app, "apps/server", [bun!, "dist/index.mjs"], /Started .*server/, {
              BUN_PORT: String(ports.server),
            })
          : await start(app, "apps/server", [node24!, "dist/index.mjs"], /is running on/);
      await using page = await start(
        app,
        "apps/web",
        webCommand(app, stack.frontend, ports.web),
        /Local:/,
      );
      expect([server, page]).toHaveLength(2);
      const mutation = stack.example === "todo" ? "todo.create" : "ping";
      await expectDenial(`http://localhost:${ports.server}/trpc/${mutation}`);
      // On this machine there is no proxy in front.
      const visitor = await post(`http://localhost:${ports.server}/trpc/${mutation}`);
      expect(visitor.status).toBe(200);
      if (stack.example === "todo") await expectCountdown(`http://localhost:${ports.web}/todos`);
      app.report(
        `create-better-t-stack, ${stack.title} (${(await app.installed()).length} packages)`,
      );
    },
    PATIENCE,
  );
});

describe.each(SHAPES)("create-better-t-stack with $title", ({ title, flags }) => {
  it("is wired whole, once", async ({ skip }) => {
    if (inject("unreachable")) skip(inject("unreachable"));
    if (node24 === undefined) skip(NO_NODE_24);
    if (!isNightly && title !== "Expo") skip(NIGHTLY_ONLY);
    await using parent = await makeProject();
    const app = await scaffoldBy(parent, "shape", `${flags} --examples todo --package-manager npm`);
    const init = () => app.run(node24!, [MAIN, "init", "--yes", "--no-install"], { env: ENV });
    const printed = await init();
    expect(printed).not.toContain("By hand");
    expect(printed.includes("so its pages poll")).toBe(title === "Expo");
    expect(await init()).toMatch(/^Nothing to change/);
  });
});

/** npm installs a command at the root, or in the folder of the application. */
function webCommand({ root }: Project, frontend: string, port: number): [string, ...string[]] {
  const path = frontend === "next" ? "next/dist/bin/next" : "vite/bin/vite.js";
  const places = ["apps/web", "."].map((folder) => join(root, folder, "node_modules", path));
  const args = frontend === "next" ? ["start", "-p"] : ["preview", "--port"];
  return [node24!, places.find((place) => existsSync(place))!, ...args, String(port)];
}

const post = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: '{"text":"call"}',
  });

/** From an address of its own, so that the browser has all of its tokens. */
async function expectDenial(url: string): Promise<void> {
  const create = () => post(url, { "x-forwarded-for": "192.0.2.7" });
  for (let i = 0; i < 3; i++) expect((await create()).status).toBe(200);
  const denied = await create();
  expect(denied.status).toBe(429);
  expect(denied.headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
  expect(await denied.json()).toMatchObject({
    error: { data: { rateLimit: { kind: "RateLimited", name: "createPost" } } },
  });
}

async function expectCountdown(url: string): Promise<void> {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    const limited: number[] = [];
    page.on("response", (response) => {
      if (response.url().includes("todo.create")) limited.push(response.status());
    });
    await page.goto(url);
    const seconds = async () => {
      const text = await page.locator("#limit").textContent();
      return Number(/\d+/.exec(text ?? "")?.[0] ?? 0);
    };
    await page.locator("#limit").waitFor();
    expect(await seconds()).toBe(0);
    for (let call = 1; call <= 3; call++) {
      await page.getByPlaceholder("Add a new task...").fill(`from the page ${call}`);
      await page.getByRole("button", { name: "Add", exact: true }).click();
      await page.getByText(`from the page ${call}`).waitFor();
    }
    await expect.poll(seconds).toBeGreaterThan(0);
    const first = await seconds();
    await expect.poll(seconds, { timeout: 10_000 }).toBeLessThan(first);
    expect(limited.slice(0, 3)).toEqual([200, 200, 200]);
  } finally {
    await browser.close();
  }
}
