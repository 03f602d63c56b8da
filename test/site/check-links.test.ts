import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { problemsOf } from "../../site/check-links.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "site-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function problemsIn(pages: Record<string, string>) {
  for (const [file, text] of Object.entries(pages)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  return problemsOf(folder, "/limits/");
}

it("finds nothing where all links lead somewhere", async () => {
  const problems = await problemsIn({
    "index.html": `<a href="/limits/docs/react#many-tabs">a</a> <a href="docs/">b</a>
      <img src="/limits/docs/a.svg" /> <a href="https://trpc.io/#gone">c</a> <a href="#top">d</a>
      <h1 id="top">e</h1> <script type="module" src="./app.js"></script>`,
    "app.js": "",
    "docs/a.svg": "",
    "docs/index.html": `<a class="x" href="../">home</a> <a href="react">react</a>`,
    "docs/react.html": `<h2 id="many-tabs" tabindex="-1">Many tabs</h2>`,
  });
  expect(problems).toEqual([]);
});

it.each([
  ["/limits/gone", "no such file"],
  ["docs/react#gone", "no such place"],
  ["#gone", "no such place"],
  ["/other", "outside of /limits/"],
])("finds a link to %s", async (target, reason) => {
  const problems = await problemsIn({
    "index.html": `<a href="${target}">a</a>`,
    "docs/react.html": "",
  });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(`index.html links to ${target}`);
  expect(problems[0]).toContain(reason);
});

it("finds an image that is not there", async () => {
  const problems = await problemsIn({ "index.html": `<img alt="a" src="gone.svg" />` });
  expect(problems).toEqual(["index.html links to gone.svg: no such file"]);
});
