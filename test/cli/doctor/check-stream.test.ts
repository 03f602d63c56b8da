/** `doctor --app`: live updates, with and without a proxy that collects answers. */
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { initTRPC } from "@trpc/server";
import { expect, it } from "vitest";
import { checkStream } from "../../../cli/doctor/check-stream.js";
import { createRateLimiter, memoryStore, MINUTE } from "../../../server/index.js";
import { createRateLimitTRPC } from "../../../server/trpc/index.js";
import { startServer } from "../../support/http.js";
import { runDoctor } from "../../support/run-doctor.js";
import { makeFolder } from "../../support/scaffold.js";

/** What superjson does to plain data. */
const transformer = {
  serialize: (json: unknown) => ({ json }),
  deserialize: (value: { json: unknown }) => value.json,
};

function start({ wraps = false, key = "ann" as string | null } = {}) {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { send: { kind: "token bucket", rate: 10, period: MINUTE } },
  });
  const t = initTRPC.create(wraps ? { transformer } : {});
  const rl = createRateLimitTRPC({ t, limiter, key: () => key });
  return startServer(t.router({ rateLimit: rl.router }), () => ({}));
}

/** A proxy that sends an answer once it has all of it. */
async function startBuffering(target: string) {
  const proxy = createServer((req, res) => {
    const forwarded = request(new URL(req.url!, target), { headers: req.headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => {
        res.writeHead(answer.statusCode!, answer.headers).end(Buffer.concat(chunks));
      });
    });
    res.on("close", () => forwarded.destroy());
    forwarded.on("error", () => res.destroy());
    forwarded.end();
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

const check = (url: string, names = ["send"], patience = 5000) =>
  checkStream({ url, names, headers: [], patience });

it.each([{ wraps: false }, { wraps: true }])(
  "hears the first event (a transformer that wraps: $wraps)",
  async ({ wraps }) => {
    await using server = await start({ wraps });
    expect(await check(server.url)).toMatchObject({ level: "ok", check: "stream" });
  },
);

it("tries the next name if one is refused", async () => {
  await using server = await start();
  expect(await check(server.url, ["other", "send"])).toMatchObject({ level: "ok" });
});

it("says that a proxy collects the answer", async () => {
  await using server = await start();
  await using proxy = await startBuffering(server.url);
  expect(await check(proxy.url, ["send"], 500)).toMatchObject({
    level: "warning",
    message: expect.stringContaining("has sent no event within 500 ms"),
    advice: expect.stringContaining("proxy_buffering off"),
  });
});

it("says what the application has refused", async () => {
  await using server = await start({ key: null });
  expect(await check(server.url)).toMatchObject({
    level: "warning",
    message: expect.stringMatching(/has refused to watch a limit: ./),
    advice: expect.stringContaining("--header"),
  });
});

it("says that there is no such procedure, and no such server", async () => {
  await using server = await start();
  expect(await check(`${server.url}/api`)).toMatchObject({
    level: "error",
    message: expect.stringContaining("has no rateLimit.watch: HTTP 404"),
  });
  await server.kill();
  expect(await check(server.url)).toMatchObject({
    level: "error",
    message: expect.stringContaining("ECONNREFUSED"),
  });
});

it("shows no secret of its URL or of its header lines, whatever goes wrong", async () => {
  await using server = await start();
  const { host } = new URL(server.url);
  const secretly = (path: string) => `http://user:geheim@${host}${path}?token=geheim#geheim`;
  const broken = ["geheim", "x-key: geheim\nx", "x key: geheim", ": geheim", "x-key: gehéim☃"];
  const findings = await Promise.all([
    check(secretly("")),
    check(secretly("/api")),
    check(secretly(""), ["send"], 0),
    check(`http://user:geheim@127.0.0.1:1/?token=geheim`),
    check("user:geheim@host"),
    check("http://user:geheim@:x/"),
    ...broken.map((line) => checkStream({ url: server.url, names: ["send"], headers: [line] })),
  ]);
  expect(JSON.stringify(findings)).not.toMatch(/geh[eé]im/);
  expect(findings.map(({ level }) => level)).toEqual([
    "ok",
    "error",
    "warning",
    ...Array<string>(3 + broken.length).fill("error"),
  ]);
  expect(findings[4]!.message).toContain("--app is not a URL");
  expect(findings[6]!.message).toContain("line 1 of --header is not");
});

it("sends the user, the password and the query of its URL", async () => {
  let seen: { url: string | undefined; authorization: string | undefined } | undefined;
  const server = createServer(({ url, headers: { authorization } }, res) => {
    seen = { url, authorization };
    res.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await check(`http://ann:p%40ss@127.0.0.1:${port}/api/trpc/?token=t`);
  server.close();
  expect(seen?.url).toMatch(/^\/api\/trpc\/rateLimit\.watch\?token=t&input=/);
  expect(seen?.authorization).toBe(`Basic ${btoa("ann:p@ss")}`);
});

it("finds the names of limits in the sources", async () => {
  await using server = await start();
  await using app = await makeFolder({
    "package.json": "{}",
    "src/limits.ts": `createRateLimiter({ limits: { send: { kind: "token bucket" } } });`,
  });
  const findings = await runDoctor("postgresql://127.0.0.1:1/none", {
    root: app.root,
    app: server.url,
  });
  expect(findings.at(-1)).toMatchObject({ check: "stream", level: "ok" });
});
