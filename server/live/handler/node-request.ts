/** Makes a `Request` of a request of Node.js. No request of a client makes this throw. */

/** The parts of an `IncomingMessage`, or of a request of Fastify, that are used here. */
export interface NodeRequest {
  /** Such as `GET`. */
  readonly method?: string | undefined;
  /** The path and the query. */
  readonly url?: string | undefined;
  /** Of Express: the path and the query as the client has sent them. */
  readonly originalUrl?: string | undefined;
  /** The header fields, by their names in small letters. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Of a host that has read the body: what it has read. */
  readonly body?: unknown;
  /** Whether the body was read. */
  readonly readableDidRead?: boolean;
  /** Missing where the host has read the body. */
  [Symbol.asyncIterator]?(): AsyncIterator<Uint8Array>;
}

/**
 * @param signal aborted when the client has left.
 * @returns `undefined` where the client has left before the end of its body.
 * @throws Error where the body was read, and the request does not have it.
 */
export async function requestOf(
  req: NodeRequest,
  signal: AbortSignal,
): Promise<Request | undefined> {
  const { method = "GET", originalUrl, url = "/" } = req;
  const headers = new Headers();
  for (const [field, value] of Object.entries(req.headers)) {
    // HTTP/2 has fields such as `:path`.
    if (value === undefined || field.startsWith(":")) continue;
    for (const one of [value].flat()) headers.append(field, one);
  }
  const init = { method: UNKNOWN_TO_FETCH.has(method) ? "OPTIONS" : method, headers, signal };
  const target = urlOf(originalUrl ?? url);
  // Node.js throws away the bodies that nobody reads.
  if (method !== "POST") return new Request(target, init);
  const body = await bodyOf(req).catch((error: unknown) => {
    if (signal.aborted) return undefined;
    throw error;
  });
  return body === undefined ? undefined : new Request(target, { ...init, body });
}

/** `Request` throws for these methods. The handler answers all methods but two with 405. */
const UNKNOWN_TO_FETCH: ReadonlySet<string> = new Set(["CONNECT", "TRACE", "TRACK"]);

/**
 * Only the path and the query count, because the host is a text of the client. A path may begin with two
 * slashes, and a client may send a whole URL.
 */
function urlOf(sent: string): string {
  const path = sent.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, "");
  return `http://localhost${path.startsWith("/") ? "" : "/"}${path}`;
}

/** The most bytes of a body that are kept. The handler refuses a body of this length. */
const MAX_BODY = 20_000;

async function bodyOf(req: NodeRequest): Promise<string | Uint8Array<ArrayBuffer>> {
  const { body } = req;
  // The body as the client has sent it, where the host has parsed it.
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array) return new Uint8Array(body);
  if (body !== undefined) return JSON.stringify(body);
  if (req.readableDidRead) {
    throw new Error(
      "toNodeHandler() got a request whose body was read before; in Fastify, pass `request` in " +
        "place of `request.raw`",
    );
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  // The rest of a body that is too long is read, too: a client reads no answer while it sends.
  for await (const chunk of { [Symbol.asyncIterator]: () => req[Symbol.asyncIterator]!() }) {
    if (size <= MAX_BODY) chunks.push(chunk);
    size += chunk.byteLength;
  }
  const whole = new Uint8Array(chunks.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}
