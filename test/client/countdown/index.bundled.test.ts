/** What Vite makes of an application that has React, and neither tRPC nor TanStack Query. */
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Rolldown } from "vite";
import { afterAll, beforeAll, expect, it, vi } from "vitest";

/** Without its types, which are another package. */
const { JSDOM } = (await import("jsdom" as string)) as {
  JSDOM: new (html: string, options: object) => { window: Window & typeof globalThis };
};
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** As docs/http.md has it. */
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

async function bundle(entryPoint: string): Promise<string> {
  const main = join(root, "main.js");
  await writeFile(main, appOf(entryPoint));
  const result = await build({
    root,
    mode: "production",
    configFile: false,
    logLevel: "silent",
    build: { write: false, rollupOptions: { input: main, output: { format: "iife" } } },
  });
  const { output } = result as Rolldown.RolldownOutput;
  return output.map((file) => (file.type === "chunk" ? file.code : "")).join("");
}

it("builds and counts down from trpc-rate-limit/countdown", async () => {
  const code = await bundle("trpc-rate-limit/countdown");
  const { window } = new JSDOM("<body></body>", { runScripts: "outside-only" });
  window.eval(code);
  const { body } = window.document;
  await vi.waitFor(() =>
    expect(body.querySelector("[role=timer]")?.textContent).toMatch(/^[45]s$/),
  );
  expect(body.querySelector("button")!.disabled).toBe(true);
  expect(body.querySelector("[role=status]")!.textContent).toMatch(/^Wait [45] seconds$/);
  window.close();
});

it("is needed for that: trpc-rate-limit/react asks for TanStack Query", async () => {
  await expect(bundle("trpc-rate-limit/react")).rejects.toThrow(/focusManager|@tanstack/);
});
