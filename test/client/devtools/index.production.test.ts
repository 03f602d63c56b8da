/** The bundles of an application with the plugin. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Rolldown } from "vite";
import { expect, it } from "vitest";

/** Within the repository, so that the package's own name resolves to it. */
const WORK = fileURLToPath(new URL(".tmp/", import.meta.url));

const APP = `
import { createTRPCClient, httpLink } from "@trpc/client";
import { rateLimitDevtools } from "trpc-rate-limit/devtools";
const client = createTRPCClient({ links: [httpLink({ url: "/trpc" })] });
document.title = [rateLimitDevtools({ client })].map(({ name }) => name).join();
`;

/** The code of that application, bundled. */
async function bundle(mode: "production" | "development"): Promise<string> {
  await mkdir(WORK, { recursive: true });
  const root = await mkdtemp(join(WORK, "app-"));
  // Vite takes the mode from here, where it is set; a test runner sets it.
  const before = process.env["NODE_ENV"];
  process.env["NODE_ENV"] = mode;
  try {
    await writeFile(join(root, "main.ts"), APP);
    const result = await build({
      root,
      mode,
      configFile: false,
      logLevel: "error",
      build: { write: false, rollupOptions: { input: join(root, "main.ts") } },
    });
    const { output } = result as Rolldown.RolldownOutput;
    return output.map((file) => (file.type === "chunk" ? file.code : "")).join("");
  } finally {
    process.env["NODE_ENV"] = before;
    await rm(root, { recursive: true });
  }
}

/** Found only in the panel: its styles, its texts, and the way to the observers. */
const PANEL = ["trl-devtools", "follows no rate limit", "Last answer", "token"];

it("leaves nothing of the panel in a production bundle", async () => {
  const code = await bundle("production");
  // The application itself is there.
  expect(code).toContain("Rate limits");
  for (const text of PANEL) expect(code).not.toContain(text);
  // Not React either, which this application uses for nothing else.
  expect(code).not.toContain("react");
});

it("has the panel in a development bundle", async () => {
  const code = await bundle("development");
  for (const text of PANEL) expect(code).toContain(text);
});
