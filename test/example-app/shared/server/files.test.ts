import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendFile } from "../../../../example-app/shared/server/files.js";

const server = createServer((req, res) => void sendFile(req.url!.slice(1), res));

beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => void server.close());

/** As the path is, which `fetch` would not leave. */
async function get(path: string): Promise<{ status: number; type: string; text: string }> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: "127.0.0.1", path: `/${path}` }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => (text += chunk));
      answer.on("end", () => {
        const { statusCode = 0, headers } = answer;
        resolve({ status: statusCode, type: headers["content-type"] ?? "", text });
      });
    });
    asked.on("error", reject);
    asked.end();
  });
}

describe("the demo's files", () => {
  it("are the documentation and the source, as plain text", async () => {
    const page = await get("docs/guarantees.md");
    expect(page).toMatchObject({ status: 200, type: "text/plain; charset=utf-8" });
    expect(page.text).toMatch(/^# /);
    expect((await get("example-app/chat/minimal.tsx")).text).toContain("// The limit");
  });

  it("are listed by folder, with links that work", async () => {
    const { text } = await get("example-app/chat");
    const [, path] = /href="\/files\/([^"]+server\.ts)"/.exec(text)!;
    expect((await get(path!)).status).toBe(200);
  });

  it.each([
    "package.json",
    "docs/../package.json",
    "docs/%2e%2e/README.md",
    "example-app/../README.md",
    "example-app/demo.db",
    "example-app/shared/../../README.md",
    "docs/missing.md",
    "docs/missing",
    "docs/guarantees.md?raw",
    `docs/${"long".repeat(100)}.md`,
  ])("are nothing else: %s", async (path) => {
    expect(await get(path)).toMatchObject({ status: 404, text: "Not found" });
  });
});
