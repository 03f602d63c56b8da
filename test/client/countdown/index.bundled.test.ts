/** The bundle that Vite makes of an application that has React, but neither tRPC nor TanStack Query. */
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Rolldown } from "vite";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { COUNTDOWN } from "../../support/countdown.js";

/** Without its types, which are another package. */
const { JSDOM } = (await import("jsdom" as string)) as {
  JSDOM: new (html: string, options: object) => { window: Window & typeof globalThis };
};
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** A button of a page without tRPC; see docs/http.md. */
const appOf = (entryPoint: string) => `
import { createElement as h } from "react";
import { createRoot } from "react-dom/client";
import { RateLimitCountdown, useCountdown } from "${entryPoint}";
function Page({ retryAt }) {
  const isWaiting = useCountdown(retryAt) > 0;
  return h("button", { disabled: isWaiting }, h(RateLimitCountdown, { retryAt }));
}
createRoot(document.body).render(h(Page, { retryAt: Date.now() + 5000 }));
`;

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "countdown-"));
  const installed = join(root, "node_modules");
  await mkdir(join(installed, "trpc-rate-limit"), { recursive: true });
  for (const part of ["dist", "package.json"]) {
    await cp(join(ROOT, part), join(installed, "trpc-rate-limit", part), { recursive: true });
  }
  for (const name of ["react", "react-dom"]) {
    await symlink(join(ROOT, "node_modules", name), join(installed, name), "dir");
  }
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** @param suffix of the files to return: of the code, or of the styles. */
async function bundle(app: string, suffix = ".js"): Promise<string> {
  const main = join(root, "main.js");
  await writeFile(main, app);
  const result = await build({
    root,
    mode: "production",
    configFile: false,
    logLevel: "silent",
    build: {
      write: false,
      cssTarget: ["chrome111", "safari16.4"],
      rollupOptions: { input: main, output: { format: suffix === ".js" ? "iife" : "es" } },
    },
  });
  const { output } = result as Rolldown.RolldownOutput;
  return output
    .filter(({ fileName }) => fileName.endsWith(suffix))
    .map((file) => (file.type === "chunk" ? file.code : file.source.toString()))
    .join("");
}

it("builds and counts down from trpc-rate-limit/countdown", async () => {
  const code = await bundle(appOf("trpc-rate-limit/countdown"));
  const { window } = new JSDOM("<body></body>", { runScripts: "outside-only" });
  window.eval(code);
  const { body } = window.document;
  await vi.waitFor(() => expect(body.querySelector(COUNTDOWN)?.textContent).toMatch(/^[45]s$/));
  expect(body.querySelector("button")!.disabled).toBe(true);
  // It is there after the first effect, so that a screen reader hears of a change.
  await vi.waitFor(() =>
    expect(body.querySelector("[role=status]")?.textContent).toMatch(/^Wait [45] seconds$/),
  );
  window.close();
});

it("is needed for that: trpc-rate-limit/react asks for TanStack Query", async () => {
  await expect(bundle(appOf("trpc-rate-limit/react"))).rejects.toThrow(/focusManager|@tanstack/);
});

it("keeps the stylesheet, and its colours for both schemes where older browsers are to be served", async () => {
  const styles = await bundle('import "trpc-rate-limit/styles.css";', ".css");
  expect(styles).toContain(":where(.rate-limit-meter)");
  // A tool that writes light-dark() in another way needs a color-scheme beside it.
  expect(styles.match(/fill: ?var\(--rate-limit-meter-\w+, ?light-dark\(/g)).toHaveLength(3);
});
