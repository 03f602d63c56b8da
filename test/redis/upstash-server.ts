/**
 * A local server that imitates Upstash's REST API in front of a Redis server. The server takes one
 * command in a request, or a list of commands at `/pipeline`, with the encoding that the client asks for.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Redis } from "ioredis";

export interface UpstashServer {
  readonly url: string;
  readonly token: string;
  /** Carries out the next `count` requests, but closes their connections without an answer. */
  loseAnswers(count: number): void;
  close(): Promise<void>;
}

type Answer = { result: unknown } | { error: string };

export async function startUpstash(port: number): Promise<UpstashServer> {
  const token = "secret";
  const redis = new Redis(port);
  let lost = 0;

  async function carryOut([name, ...args]: readonly unknown[]): Promise<Answer> {
    try {
      return { result: await redis.call(String(name), ...args.map(String).map(withoutFlag)) };
    } catch (error) {
      return { error: (error as Error).message };
    }
  }

  async function answer(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
    const isBase64 = request.headers["upstash-encoding"] === "base64";
    const encoded = (each: Answer): Answer =>
      isBase64 && "result" in each ? { result: toBase64(each.result) } : each;
    if (request.headers.authorization !== `Bearer ${token}`) {
      return { status: 401, body: { error: "WRONGPASS invalid or missing auth token" } };
    }
    const body = JSON.parse(await textOf(request)) as unknown[];
    if (request.url === "/pipeline") {
      const answers = await Promise.all((body as unknown[][]).map(carryOut));
      return { status: 200, body: answers.map(encoded) };
    }
    const only = await carryOut(body);
    return { status: "error" in only ? 400 : 200, body: encoded(only) };
  }

  const server = createServer((request, response) => {
    void answer(request).then(({ status, body }) => {
      if (lost > 0) {
        lost--;
        return request.socket.destroy();
      }
      response.writeHead(status, { "content-type": "application/json" });
      return response.end(JSON.stringify(body));
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    loseAnswers: (count) => void (lost = count),
    async close() {
      redis.disconnect();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Scripts of `@upstash/ratelimit` begin with a flag that no Redis has. */
const withoutFlag = (text: string) => text.replace(/^#!lua flags=allow-key-locking\n/, "");

/** Encodes strings. Numbers, `null` and `OK` stay as they are. */
function toBase64(result: unknown): unknown {
  if (Array.isArray(result)) return result.map(toBase64);
  return typeof result === "string" && result !== "OK"
    ? Buffer.from(result).toString("base64")
    : result;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
