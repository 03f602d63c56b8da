/** The bundles of applications with and without the control room. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Rolldown } from "vite";
import { expect, it } from "vitest";

/** Within the repository, so that the package's own name resolves to it. */
const WORK = fileURLToPath(new URL(".tmp/", import.meta.url));

async function bundle(app: string) {
  await mkdir(WORK, { recursive: true });
  const root = await mkdtemp(join(WORK, "app-"));
  try {
    await writeFile(join(root, "main.ts"), app);
    const result = await build({
      root,
      configFile: false,
      logLevel: "silent",
      build: { write: false, rollupOptions: { input: join(root, "main.ts") } },
    });
    const { output } = result as Rolldown.RolldownOutput;
    return output.map((file) =>
      file.type === "chunk"
        ? { isEntry: file.isEntry, text: file.code }
        : { isEntry: false, text: String(file.source) },
    );
  } finally {
    await rm(root, { recursive: true });
  }
}

/** Found in uPlot's code alone. */
const PLOT = "u-wrap";
/** Found in the code of the control room alone. */
const ROOM = "You may not see this page";

/** Found in the code of one part alone, by the part. */
const PARTS = {
  "a key": "Deny every call of this key",
  "the chart": "Asking what was granted and denied",
  "the top keys": "complete since",
};

it("loads uPlot, the chart, a key and the top keys when they are shown, and has its styles in a file", async () => {
  const files = await bundle(`
    import { RateLimitAdmin } from "trpc-rate-limit/admin";
    import "trpc-rate-limit/admin.css";
    document.title = RateLimitAdmin.name;
  `);
  const entry = files.find(({ isEntry }) => isEntry);
  expect(entry!.text).toMatch(ROOM);
  expect(entry!.text).not.toContain(PLOT);
  for (const [part, text] of Object.entries(PARTS)) {
    const found = files.filter((file) => file.text.includes(text));
    expect([part, found.map(({ isEntry }) => isEntry)]).toEqual([part, [false]]);
  }
  const scripts = files.filter(({ text }) => !text.includes(".rate-limit-admin"));
  expect(scripts.filter(({ text }) => text.includes(PLOT))).toHaveLength(1);
  expect(files.filter(({ text }) => /\.rate-limit-admin \.rla-row/.test(text))).toHaveLength(1);
});

it("is not there in an application that does not import it", async () => {
  const files = await bundle(`
    import { createRateLimitReact } from "trpc-rate-limit/react";
    document.title = Object.keys(createRateLimitReact()).join();
  `);
  for (const { text } of files) expect(text).not.toMatch(new RegExp(`${ROOM}|${PLOT}|rla-`));
});
