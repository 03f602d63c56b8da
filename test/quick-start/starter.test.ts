/** The example of the site that runs in a browser's editor: it builds and runs with the packed package. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchChromium } from "../support/chromium.js";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

describe("the starter", () => {
  let folder: string;
  let browser: Browser;
  let server: ChildProcess | undefined;
  beforeAll(async () => {
    browser = await launchChromium();
    folder = await mkdtemp(join(tmpdir(), "starter-"));
    await cp(join(ROOT, "site/starter"), folder, { recursive: true });
    const pack = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
    const { stdout } = await run("npm", pack, { cwd: ROOT });
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    const install = ["install", "--no-audit", "--no-fund", `./${filename}`];
    await run("npm", install, { cwd: folder });
  });
  afterAll(async () => {
    server?.kill();
    await browser.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("compiles and builds", async () => {
    const { stdout } = await run("npm", ["run", "build"], { cwd: folder });
    expect(stdout).toMatch(/built in/);
  });

  it("starts with one command, and counts down after three messages, also in another tab", async () => {
    // In colours, which Vite has in CI, the address would have codes between its digits.
    const env = { ...process.env, NO_COLOR: "1" };
    server = spawn(join(folder, "node_modules/.bin/vite"), ["--port", "0"], { cwd: folder, env });
    const url = await addressOf(server);
    const [page, other] = await Promise.all([browser.newPage(), browser.newPage()]);
    const problems: string[] = [];
    for (const tab of [page, other]) {
      tab.on("pageerror", ({ message }) => problems.push(message));
      tab.on("console", (line) => line.type() === "error" && problems.push(line.text()));
    }
    await page.goto(url);
    await other.goto(url);
    for (const left of [3, 2, 1]) {
      await page.getByRole("button", { name: `Send (${left} left)`, exact: true }).click();
    }
    for (const tab of [page, other]) {
      const waiting = tab.locator("button", { hasText: /^Wait \d+s$/ });
      await waiting.waitFor();
      expect(await waiting.isDisabled()).toBe(true);
    }
    await page.getByRole("button", { name: "Send (1 left)", exact: true }).waitFor();
    expect(problems).toEqual([]);
  });
});

/** What Vite prints once it is ready. */
function addressOf({ stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let output = "";
    stdout!.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      const url = /http:\/\/localhost:\d+/.exec(output)?.[0];
      if (url !== undefined) resolve(url);
    });
  });
}
