/** `doctor --app`: live updates, with and without a proxy that buffers answers. */
import { createServer, request, type RequestListener } from "node:http";
import { initTRPC, TRPCError } from "@trpc/server";
import superjson from "superjson";
import { describe, expect, it } from "vitest";
import { checkStream } from "../../../cli/doctor/check-stream.js";
import {
  createRateLimiter,
  createRateLimitHandler,
  memoryStore,
  MINUTE,
  toNodeHandler,
} from "../../../server/index.js";
import { createRateLimitTRPC } from "../../../server/trpc/index.js";
import { startServer } from "../../support/http.js";
import { runDoctor } from "../../support/run-doctor.js";
import { makeFolder } from "../../support/scaffold.js";
import { listen } from "../../support/serve-fetch.js";

interface Application {
  wraps?: boolean;
  key?: string | null;
  /** Whether the router is mounted. */
  isMounted?: boolean;
  isLoggedIn?: boolean;
}

function start({
  wraps = false,
  key = "ann",
  isMounted = true,
  isLoggedIn = true,
}: Application = {}) {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { send: { kind: "token bucket", rate: 10, period: MINUTE } },
  });
  const t = initTRPC.create(wraps ? { transformer: superjson } : {});
  const rl = createRateLimitTRPC({ t, limiter, key: () => key });
  return startServer(t.router(isMounted ? { rateLimit: rl.router } : {}), () => {
    if (!isLoggedIn) throw new TRPCError({ code: "UNAUTHORIZED", message: "Log in first" });
    return {};
  });
}

/** A server without tRPC, with the handler of limits at one path and the same text at all others. */
function startHandler(key: string | null = "ann", otherwise = "<title>App</title>") {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { send: { kind: "token bucket", rate: 10, period: MINUTE } },
  });
  const handler = toNodeHandler(createRateLimitHandler({ limiter, key: () => key }));
  return startAnswering((req, res) => {
    if (req.url!.startsWith("/api/limits?")) handler(req, res);
    else res.end(otherwise);
  });
}

/** A server that answers everything so. */
const startAnswering = (answer: RequestListener) => listen(createServer(answer));

/** A proxy that sends an answer once it has all of it. */
function startBuffering(target: string) {
  return startAnswering((req, res) => {
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

it("hears the first event of the handler of limits, which it finds by the answer", async () => {
  await using server = await startHandler();
  expect(await check(`${server.url}/api/limits`)).toMatchObject({ level: "ok", check: "stream" });
  expect(await check(`${server.url}/api/limits`, ["other", "send"])).toMatchObject({ level: "ok" });
  expect(await check(`${server.url}/api`)).toMatchObject({
    level: "error",
    message: expect.stringContaining("no handler of limits"),
  });
});

it("finds the handler beside a host whose error for other paths is JSON", async () => {
  await using server = await startHandler("ann", JSON.stringify({ error: "Only HTML here" }));
  expect(await check(`${server.url}/api/limits`)).toMatchObject({ level: "ok" });
  expect(await check(`${server.url}/api`)).toMatchObject({
    level: "warning",
    message: expect.stringContaining("Only HTML here"),
  });
});

it("says why the handler of limits has refused", async () => {
  await using server = await startHandler(null);
  expect(await check(`${server.url}/api/limits`)).toMatchObject({
    level: "warning",
    message: expect.stringContaining("has refused to watch a limit: BAD_REQUEST"),
  });
});

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

describe.each([{ wraps: false }, { wraps: true }])("with superjson: $wraps", ({ wraps }) => {
  it("says why a key was refused", async () => {
    await using server = await start({ wraps, key: null });
    expect(await check(server.url)).toMatchObject({
      level: "warning",
      message: expect.stringMatching(/has refused to watch a limit: [A-Z_]+, .*key/),
      advice: expect.stringContaining("--header"),
    });
  });

  it("says in words which names of limits there are", async () => {
    await using server = await start({ wraps });
    expect(await check(server.url, ["other"])).toMatchObject({
      level: "warning",
      message: `${server.url} has refused to watch a limit: BAD_REQUEST, items.0.name: Invalid input: expected "send"`,
      advice: expect.stringContaining("--limit"),
    });
  });

  it("says that a user has to be logged in", async () => {
    await using server = await start({ wraps, isLoggedIn: false });
    expect(await check(server.url)).toEqual({
      check: "stream",
      level: "warning",
      message: `${server.url} has refused to watch a limit: UNAUTHORIZED, Log in first`,
      advice: 'pass the cookie of one who is logged in by --header "cookie: ..."',
    });
  });

  it("says that the router is not mounted", async () => {
    await using server = await start({ wraps, isMounted: false });
    expect(await check(server.url)).toMatchObject({
      level: "error",
      message: expect.stringContaining('NOT_FOUND, No procedure found on path "rateLimit.watch"'),
      advice: expect.stringContaining("rateLimit: rl.router"),
    });
  });

  it("says which path tRPC does not know", async () => {
    await using server = await start({ wraps });
    expect(await check(`${server.url}/api`)).toMatchObject({
      level: "error",
      message: expect.stringContaining('No procedure found on path "api/rateLimit.watch"'),
      advice: expect.stringContaining("pass the URL of tRPC"),
    });
  });
});

it("asks once for each limit where there is no transformer", async () => {
  await using server = await start();
  await check(server.url, ["other", "more"]);
  expect(server.requests()).toBe(2);
});

it.each([
  { status: 502, body: "<html><title>502 Bad Gateway</title></html>", said: "502 Bad Gateway" },
  { status: 404, body: "<!doctype html><title>Not found</title>", said: "Not found" },
])("says that a page answers instead of tRPC: $said", async ({ status, body, said }) => {
  await using proxy = await startAnswering((_, res) => {
    res.writeHead(status, { "content-type": "text/html" }).end(body);
  });
  expect(await check(`${proxy.url}/api/trpc`)).toMatchObject({
    level: "error",
    message: `there is no tRPC and no handler of limits at ${proxy.url}/api/trpc: HTTP ${status}, an HTML page with the title "${said}"`,
    advice: expect.stringContaining("pass the URL of tRPC"),
  });
});

it("says that it was sent to a page, such as that of the log-in", async () => {
  await using server = await startAnswering((req, res) => {
    if (req.url?.startsWith("/log-in")) res.writeHead(200, { "content-type": "text/html" }).end("");
    else res.writeHead(307, { location: "/log-in?from=secret" }).end();
  });
  expect(await check(server.url)).toMatchObject({
    level: "error",
    message: expect.stringMatching(/HTTP 200, an HTML page, after a redirect to \/log-in$/),
    advice: expect.stringContaining("--header"),
  });
});

it("says what a guard in front of tRPC has answered", async () => {
  await using server = await startAnswering((_, res) => {
    res.writeHead(401, { "content-type": "application/json" }).end('{"error":"No session"}');
  });
  expect(await check(server.url)).toMatchObject({
    level: "warning",
    message: expect.stringContaining("has refused to watch a limit: No session"),
    advice: expect.stringContaining("--header"),
  });
});

it("says that there is no such server", async () => {
  await using server = await start();
  await server.kill();
  expect(await check(server.url)).toMatchObject({
    level: "error",
    message: expect.stringMatching(/^cannot reach .*ECONNREFUSED/),
    advice: "start the application, or pass the URL at which it listens",
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
  const seen: { url: string | undefined; authorization: string | undefined }[] = [];
  await using server = await startAnswering(({ url, headers: { authorization } }, res) => {
    seen.push({ url, authorization });
    res.end();
  });
  await check(`${server.url.replace("//", "//ann:p%40ss@")}/api/trpc/?token=t`);
  const authorization = `Basic ${btoa("ann:p@ss")}`;
  expect(seen).toEqual([
    { url: expect.stringMatching(/^\/api\/trpc\/rateLimit\.watch\?token=t&input=/), authorization },
    { url: expect.stringMatching(/^\/api\/trpc\/\?token=t&action=watch&items=/), authorization },
  ]);
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
