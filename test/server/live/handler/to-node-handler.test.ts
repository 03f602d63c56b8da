/** What clients and networks do to a server of Node.js. */
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import * as server from "../../../../server/index.js";
import { type RateLimitHandler, toNodeHandler } from "../../../../server/index.js";
import { createHandlerApp } from "../../../support/handler-app.js";
import { clientOf } from "../../../support/handler-suite.js";
import { deafSocket, sendRaw, statusOf } from "../../../support/raw-requests.js";
import { listen } from "../../../support/serve-fetch.js";
import { soon } from "../../../support/soon.js";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

const start = async (handler: RateLimitHandler<unknown> = createHandlerApp(server)) => {
  const host = await listen(createServer(toNodeHandler(handler)));
  onTestFinished(() => host[Symbol.asyncDispose]());
  return host.url;
};
/** The answer of Node.js alone, which is 200 unless it refuses the line. */
const statusOfNode = async (line: string) => {
  await using host = await listen(createServer((_request, response) => response.end()));
  return await statusOf(host.url, line);
};
/** A handler of requests, without limits. */
const handlerOf = (answer: (request: Request) => Promise<Response> | Response) =>
  Object.assign(async (request: Request) => answer(request), { limits: {} });

const STATUS = "?action=status&name=send";
const USER = "x-user: ada";

afterEach(() => vi.restoreAllMocks());

describe("a request line", () => {
  it.each([
    ["two slashes", `GET //api/limits${STATUS} HTTP/1.1`, 200],
    ["two slashes and no host", `GET //${STATUS} HTTP/1.1`, 200],
    ["two slashes and a wrong host", `GET //[::1/${STATUS} HTTP/1.1`, 200],
    ["a backslash", `GET /\\evil:port/${STATUS} HTTP/1.1`, 200],
    ["a whole URL", `GET http://evil.example/api/limits${STATUS} HTTP/1.1`, 200],
    ["a whole URL with a wrong host", `GET http://[x:y/api${STATUS} HTTP/1.1`, 200],
    ["a query alone", `GET http://evil.example${STATUS} HTTP/1.1`, 200],
    ["a star", "OPTIONS * HTTP/1.1", 405],
    ["odd characters", `GET /%zz/%00/"<>^\`{|}${STATUS} HTTP/1.1`, 200],
    // Node.js 20.19.0 gives these to a handler, and later versions refuse them.
    ["bytes above 127", `GET /\xe9\xff\x80${STATUS} HTTP/1.1`, undefined],
    ["a broken escape", "GET /?action=%E0%A4%A&name=%zz HTTP/1.1", 400],
    ["the method TRACE", `TRACE /${STATUS} HTTP/1.1`, 405],
    ["the method PROPFIND", `PROPFIND /${STATUS} HTTP/1.1`, 405],
    ["15,000 characters", `GET /?action=status&name=${"n".repeat(15_000)} HTTP/1.1`, 400],
    ["more than Node.js takes", `GET /?action=status&name=${"n".repeat(20_000)} HTTP/1.1`, 431],
  ])("with %s gets no 5xx", async (_what, line, status) => {
    const expected = status ?? (await statusOfNode(line));
    expect(await statusOf(await start(), line, USER)).toBe(expected);
  });

  it("of HEAD gets no body, and opens no stream", async () => {
    const url = await start();
    const query = `?action=watch&items=${encodeURIComponent('[{"name":"send"}]')}`;
    const request = `HEAD /${query} HTTP/1.1\r\nHost: test\r\n${USER}\r\nConnection: close\r\n\r\n`;
    const answer = await sendRaw(url, request);
    expect(answer).toMatch(/^HTTP\/1.1 405 .*\r\nallow: GET, POST\r\n/is);
    expect(answer).toMatch(/\r\n\r\n$/);
    expect((await clientOf(url, "ada").watch()).status).toBe(200);
  });
});

it("takes field values with any bytes that Node.js takes", async () => {
  const url = await start();
  const fields = ["x-odd: \x80\xff\t\xe9", "x-odd: again", "cookie: a=\xff", "cookie: b"];
  expect(await statusOf(url, `GET /${STATUS} HTTP/1.1`, USER, ...fields)).toBe(200);
});

describe("a body", () => {
  it("of 5 MB is refused with 413, which the client can read", async () => {
    const url = await start();
    const { post } = clientOf(url, "ada", "admin");
    for (let round = 0; round < 3; round++) expect((await post("x".repeat(5e6))).status).toBe(413);
    expect((await post({ action: "limit", name: "send" })).status).toBe(200);
  });

  it("that its client gives up is no error of the server", async () => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const url = await start();
    const head = `POST / HTTP/1.1\r\nHost: test\r\n${USER}\r\nContent-Type: application/json\r\n`;
    const socket = deafSocket(url, `${head}Content-Length: 500\r\n\r\n{"action":`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    await once(socket, "close");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await clientOf(url, "ada").get({ action: "status", name: "send" })).status).toBe(200);
    expect(error).not.toHaveBeenCalled();
  });

  it("that a host has read without leaving it there is an error that says so", async () => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const answer = toNodeHandler(createHandlerApp(server));
    const host = await listen(
      createServer((req, res) => void req.once("data", () => answer(req, res))),
    );
    onTestFinished(() => host[Symbol.asyncDispose]());
    const { post } = clientOf(host.url, "ada", "admin");
    expect((await post({ action: "limit", name: "send" })).status).toBe(500);
    expect(String(error.mock.calls[0]![1])).toContain("pass `request` in place of `request.raw`");
  });
});

describe("a client that leaves", () => {
  it("before the answer has its body cancelled", async () => {
    let cancelled = 0;
    let answer: (response: Response) => void = () => {};
    const url = await start(handlerOf(() => new Promise((resolve) => (answer = resolve))));
    const connection = new AbortController();
    const left = fetch(url, { signal: connection.signal }).catch(() => "left");
    await new Promise((resolve) => setTimeout(resolve, 50));
    connection.abort();
    expect(await left).toBe("left");
    await new Promise((resolve) => setTimeout(resolve, 50));
    answer(new Response(new ReadableStream({ cancel: () => void cancelled++ })));
    await soon(() => expect(cancelled).toBe(1));
  });

  it("aborts the signal of its request, and a client that was answered does not", async () => {
    const aborted: string[] = [];
    const url = await start(
      handlerOf(({ signal, url: of }) => {
        signal.addEventListener("abort", () => aborted.push(new URL(of).pathname));
        return of.endsWith("/stream")
          ? new Response(new ReadableStream({ start: (c) => c.enqueue(new Uint8Array(5)) }))
          : new Response("done");
      }),
    );
    await (await fetch(`${url}/whole`)).text();
    const stream = await fetch(`${url}/stream`);
    await stream.body!.cancel();
    await soon(() => expect(aborted).toEqual(["/stream"]));
  });
});

it("asks a stream for no more than a slow client reads", async () => {
  let sent = 0;
  const chunk = new Uint8Array(64 * 1024);
  const url = await start(
    handlerOf(
      () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              sent++;
              controller.enqueue(chunk);
            },
          }),
        ),
    ),
  );
  const socket = deafSocket(url, "GET / HTTP/1.1\r\nHost: test\r\n\r\n");
  let before = -1;
  await expect
    .poll(() => {
      const isSame = before === sent && sent > 0;
      before = sent;
      return isSame;
    })
    .toBe(true);
  expect(sent * chunk.byteLength).toBeLessThan(20e6);
  socket.destroy();
});

describe("an error of the handler", () => {
  const broken = handlerOf(() => {
    throw new Error("a bug");
  });

  it("goes to next where there is one", async () => {
    const answer = toNodeHandler(broken);
    const seen = vi.fn<(error: unknown) => void>();
    const host = await listen(
      createServer((req, res) =>
        answer(req, res, (error) => {
          seen(error);
          res.writeHead(418).end();
        }),
      ),
    );
    onTestFinished(() => host[Symbol.asyncDispose]());
    expect((await fetch(host.url)).status).toBe(418);
    expect(seen).toHaveBeenCalledWith(new Error("a bug"));
  });

  it("is 500 and a line on the console where there is none", async () => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const response = await fetch(await start(broken));
    expect([response.status, await response.text()]).toEqual([500, ""]);
    expect(error).toHaveBeenCalledWith(expect.any(String), new Error("a bug"));
  });
});

it("adds cookies to those of the host", async () => {
  const answer = toNodeHandler(createHandlerApp(server));
  const host = await listen(
    createServer((req, res) => {
      res.setHeader("Set-Cookie", "of=host");
      answer(req, res);
    }),
  );
  onTestFinished(() => host[Symbol.asyncDispose]());
  const { headers } = await fetch(`${host.url}/${STATUS}`);
  expect(headers.getSetCookie()).toEqual(["of=host", "session=; Max-Age=0", "theme=dark"]);
});

it("serves HTTP/2, streams included, and notices that a client has left", async () => {
  const app = createHttp2Server(toNodeHandler(createHandlerApp(server)));
  app.listen(0, "127.0.0.1");
  await once(app, "listening");
  const client = connectHttp2(`http://127.0.0.1:${(app.address() as AddressInfo).port}`);
  onTestFinished(() => {
    client.destroy();
    app.close();
  });
  async function ask(query: string) {
    const request = client.request({ ":path": `/${query}`, "x-user": "ada" });
    request.on("error", () => {});
    const [headers] = (await once(request, "response")) as [Record<string, unknown>];
    const read = { text: "" };
    request.setEncoding("utf8").on("data", (data: string) => (read.text += data));
    return { request, read, status: headers[":status"] };
  }
  const one = await ask(STATUS);
  expect(one.status).toBe(200);
  await soon(() => expect(one.read.text).toContain('"value":3'));
  const watch = `?action=watch&items=${encodeURIComponent('[{"name":"send"}]')}`;
  const stream = await ask(watch);
  await soon(() => expect(stream.read.text).toContain('"value":3'));
  expect((await ask(watch)).status).toBe(409);
  stream.request.close();
  await expect.poll(async () => (await ask(watch)).status).toBe(200);
});

it("lets a process end with open streams, once their connections are closed", async () => {
  const limits = `limits: { send: { kind: "token bucket", rate: 3, period: 1000 } }`;
  const program = `
    import { spawn } from "node:child_process";
import { createServer } from "node:http";
    import { createRateLimiter, createRateLimitHandler, memoryStore, SHARED_BUCKET, toNodeHandler }
      from "./server/index.ts";
    const limiter = createRateLimiter({ store: memoryStore(), ${limits} });
    const handler = createRateLimitHandler({ limiter, key: SHARED_BUCKET });
    const server = createServer(toNodeHandler(handler)).listen(0, "127.0.0.1", () =>
      console.log("http://127.0.0.1:" + server.address().port));
    process.once("SIGTERM", () => {
      server.close(() => console.log("closed"));
      server.closeAllConnections();
    });`;
  const args = ["--import", "tsx", "--input-type=module", "--eval", program];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  await soon(() => expect(printed).toContain("http"));
  const stream = await clientOf(printed.trim(), undefined).watch();
  await soon(() => expect(stream.values).toEqual([3]));
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  expect(await exit).toEqual([0, null]);
  expect(printed).toContain("closed");
  expect(stream.isOver).toBe(true);
});
