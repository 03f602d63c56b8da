/** Serves a handler of `fetch` requests over HTTP, as hosts serve route handlers and edge functions. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";

export interface Host {
  /** The base URL of the procedures or routes. */
  url: string;
  [Symbol.asyncDispose](): PromiseLike<void>;
}

/**
 * @param send sends a body. By default, a body is not cancelled when its client leaves; `pipeline` of
 * `node:stream` does that, as most hosts do.
 */
export function serveFetch(
  handle: (request: Request) => Response | Promise<Response>,
  path = "",
  send: (body: Readable, res: ServerResponse) => unknown = (body, res) => body.pipe(res),
): Promise<Host> {
  const server = createServer((req, res) => {
    const aborted = new AbortController();
    res.once("close", () => aborted.abort());
    const hasBody = req.method !== "GET" && req.method !== "HEAD";
    const request = new Request(`http://localhost${req.url}`, {
      method: req.method!,
      headers: Object.entries(req.headers).map(([name, value]) => [name, String(value)]),
      signal: aborted.signal,
      ...(hasBody && { body: Readable.toWeb(req) as ReadableStream, duplex: "half" }),
    });
    const respond = (response: Response) => {
      res.writeHead(response.status, [...response.headers].flat());
      if (response.body === null) res.end();
      else
        send(
          Readable.fromWeb(response.body as never).on("error", () => {}),
          res,
        );
    };
    // A host answers 500 where the handler fails.
    void (async () => handle(request))().then(respond, () => res.writeHead(500).end());
  });
  return listen(server, path);
}

export async function listen(server: Server, path = ""): Promise<Host> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
