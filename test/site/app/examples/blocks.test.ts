import { readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "vite";
import { expect, it, onTestFinished } from "vitest";
import { blockIn, blocksOfPages } from "../../../../site/app/examples/blocks.js";
import { ROOT } from "../../../../site/pages.js";

const PAGE = [
  "<!-- tabs: tRPC, fetch -->",
  "",
  "```ts\n// client/a.ts\nexport const a = 1;\n```",
  "",
  "```ts\n// client/a.ts\nexport const a = 2;\n```",
].join("\n");

it("is the code of the page, and the first one of tabs", () => {
  expect(blockIn(PAGE, "client/a.ts")).toBe("// client/a.ts\nexport const a = 1;");
  expect(blockIn(PAGE, "client/b.ts")).toBeUndefined();
});

/** Builds a module that exports a block. What the block imports stays outside. */
async function bundle(name: string): Promise<string> {
  const folder = join(ROOT, "test/support/.tmp", crypto.randomUUID());
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(folder, { recursive: true });
  const entry = join(folder, "entry.js");
  await writeFile(entry, `export * from "${name}";`);
  const [{ output }] = (await build({
    configFile: false,
    logLevel: "silent",
    plugins: [blocksOfPages()],
    build: {
      write: false,
      minify: false,
      lib: { entry, formats: ["es"] },
      rolldownOptions: { external: /^(?:trpc-rate-limit|react)\/|^\.\/trpc\.js$/ },
    },
  })) as unknown as [{ output: [{ code: string }] }];
  return output[0].code;
}

it("is loaded by the name of its page and its path", async () => {
  const code = await bundle("block:docs/devtools.md#client/panel.tsx");
  expect(code).toContain("rateLimitDevtools({ client: trpcClient })");
  await expect(bundle("block:docs/devtools.md#client/gone.tsx")).rejects.toThrow(
    'docs/devtools.md has no block "client/gone.tsx"',
  );
});

it("stands below its example on the page", () => {
  const examples = readFileSync(join(ROOT, "site/app/examples/examples.tsx"), "utf8");
  const shown = [
    ...examples.matchAll(/async (\w+)\(\) \{\n[^]*?"block:(docs\/[\w-]+\.md)#([\w/.-]+)"/g),
  ];
  expect(shown.map(([, name]) => name)).toEqual([
    "countdown",
    "button",
    "mutation",
    "devtools",
    "admin",
  ]);
  for (const [, name, page, path] of shown) {
    const text = readFileSync(join(ROOT, page!), "utf8");
    const below = text.split(`<!-- live: ${name} -->\n`)[1] ?? "";
    expect([name, /^\n(?:<!-- tabs: .* -->\n\n)?```tsx\n\/\/ (\S+)\n/.exec(below)?.[1]]).toEqual([
      name,
      path,
    ]);
  }
});
