import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { preview, type PreviewServer } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingPage } from "../../../site/app/missing-page.js";

let folder: string;
let server: PreviewServer;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "site-"));
  await mkdir(join(folder, "docs"));
  await writeFile(join(folder, "404.html"), "There is no such page");
  await writeFile(join(folder, "docs/limits.html"), "Limits");
  await writeFile(join(folder, "docs/index.html"), "Documentation");
  server = await preview({
    root: folder,
    base: "/limits/",
    configFile: false,
    appType: "mpa",
    logLevel: "silent",
    build: { outDir: folder },
    preview: { port: 0 },
    plugins: [missingPage(folder)],
  });
  url = server.resolvedUrls!.local[0]!;
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

async function answerTo(path: string, options?: RequestInit) {
  const answer = await fetch(url + path, options);
  return [answer.status, await answer.text()];
}

/** `fetch` would resolve the dots itself, and ask for an address outside of the site. */
async function rawAnswerTo(path: string) {
  const { hostname, port, pathname } = new URL(url);
  const request = get({ hostname, port, path: pathname + path });
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  return [answer.statusCode, await text(answer)];
}

describe("the preview", () => {
  it.each([
    ["docs/limits", "Limits"],
    ["docs/limits?a=b", "Limits"],
    ["docs/", "Documentation"],
  ])("serves %s", async (path, content) => {
    expect(await answerTo(path)).toEqual([200, content]);
  });

  it.each(["docs/gone", "docs/gone?a=b", "docs/gone.html", "gone/", "gone.js", "%zz"])(
    "answers %s with the page that says so, and its status",
    async (path) => {
      expect(await answerTo(path)).toEqual([404, "There is no such page"]);
    },
  );

  it("answers an address with dots, as a client without a parser of addresses sends it", async () => {
    expect(await rawAnswerTo("%2e%2e/x")).toEqual([404, "There is no such page"]);
  });

  it("answers a request for the head of a missing page without a body", async () => {
    expect(await answerTo("docs/gone", { method: "HEAD" })).toEqual([404, ""]);
  });
});
