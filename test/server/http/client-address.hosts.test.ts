/** The address that each host takes for the visitor's, if the visitor forges X-Forwarded-For. */
import { createServer, request } from "node:http";
import express from "express";
import fastify from "fastify";
import { describe, expect, it } from "vitest";
import { clientAddress, ipKey } from "../../../server/index.js";
import { type Host, listen, serveFetch } from "../../support/serve-fetch.js";

const VISITOR = "198.51.100.7";
/** How the proxy beside the application sees the one before it. */
const SECOND_PROXY = "10.0.0.2";

/** Hosts that answer with the key of the visitor, behind so many proxies. */
const hosts: Record<string, (proxies: number | true) => Promise<Host>> = {
  express(proxies) {
    const app = express().set("trust proxy", proxies);
    app.get("/", (req, res) => void res.send(ipKey(req.ip)));
    return listen(createServer(app));
  },
  async fastify(proxies) {
    const addresses = ["127.0.0.1", SECOND_PROXY].slice(0, Number(proxies));
    const app = fastify({ trustProxy: proxies === true || addresses, forceCloseConnections: true });
    app.get("/", (req, reply) => reply.send(ipKey(req.ip)));
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    return { url, [Symbol.asyncDispose]: () => app.close() };
  },
  clientAddress: (proxies) =>
    serveFetch(
      ({ headers }) => new Response(ipKey(clientAddress(headers, { proxies: Number(proxies) }))),
    ),
};

/** A proxy that does what proxies do: it appends the address of its peer, here a made-up one. */
function proxy(target: string, peer: string): Promise<Host> {
  return listen(
    createServer((req, res) => {
      const before = req.headers["x-forwarded-for"];
      const forwarded = before === undefined ? peer : `${String(before)}, ${peer}`;
      request(target, { headers: { "x-forwarded-for": forwarded } }, (answer) => {
        res.writeHead(answer.statusCode!);
        answer.pipe(res);
      }).end();
    }),
  );
}

async function keyOf(url: string, claimed?: string): Promise<string> {
  const headers = claimed === undefined ? {} : { "x-forwarded-for": claimed };
  return (await fetch(url, { headers })).text();
}

describe.each(Object.entries(hosts))("%s", (_name, start) => {
  it.each([1, 2])(
    "finds the visitor behind %i proxies, whatever the visitor claims",
    async (proxies) => {
      await using app = await start(proxies);
      await using near = await proxy(app.url, proxies === 1 ? VISITOR : SECOND_PROXY);
      await using far = await proxy(near.url, VISITOR);
      const { url } = proxies === 1 ? near : far;
      for (const claimed of [undefined, "203.0.113.9", "203.0.113.9, 10.0.0.9", "unknown"]) {
        expect(await keyOf(url, claimed)).toBe(VISITOR);
      }
    },
  );
});

it.each(["express", "fastify"])("believes the visitor if %s trusts every proxy", async (name) => {
  await using app = await hosts[name]!(true);
  await using near = await proxy(app.url, VISITOR);
  expect(await keyOf(near.url, "203.0.113.9")).toBe("203.0.113.9");
});
