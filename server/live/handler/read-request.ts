/** Reads what a client asks for. A request that changes something has to be JSON. */
import { checkedStreamId, type Item, type LiveInputs, type Query } from "../live-inputs.js";
import { RefusedRequest } from "../refused.js";

/** The most bytes of a body. The longest valid one has some 1,500. */
const MAX_BODY = 10_000;

export type Asked<TName extends string> =
  | { action: "status"; items: Query<TName>[]; isList: boolean }
  | { action: "check"; item: Query<TName> }
  | { action: "watch"; items: Item<TName>[]; stream: string }
  | { action: "limit"; item: Query<TName> & { reserve?: boolean | undefined } }
  | { action: "reset"; item: Item<TName> };

/**
 * @throws RefusedRequest for a method, a body or an input that is not valid.
 * @throws RateLimitInputError for a key or a count that is not valid.
 */
export async function readRequest<TName extends string>(
  request: Request,
  inputs: LiveInputs<TName>,
): Promise<Asked<TName>> {
  const { method } = request;
  if (method === "GET") return readQuery(request, inputs);
  if (method === "POST") return readBody(await bodyOf(request), inputs);
  throw new RefusedRequest("METHOD_NOT_SUPPORTED", "use GET or POST");
}

function readQuery<TName extends string>(
  { url, headers }: Request,
  inputs: LiveInputs<TName>,
): Asked<TName> {
  const query = new URL(url).searchParams;
  const action = query.get("action");
  const list = query.get("items");
  if (action === "watch") {
    // The browser sends the id of the stream that it replaces. Its URL is the same each time.
    const id = query.get("stream") ?? headers.get("Last-Event-ID");
    const stream = id === null ? crypto.randomUUID() : checkedStreamId(id);
    return { action, items: inputs.items(parsed(list ?? ""), ["key"]), stream };
  }
  if (action === "status" && list !== null) {
    return { action, items: inputs.items(parsed(list), ["key", "count"]), isList: true };
  }
  const item = inputs.item(itemIn(query), ["key", "count"]);
  if (action === "status") return { action, items: [item], isList: false };
  if (action === "check") return { action, item };
  throw unknownAction("status, check or watch");
}

/** Parameters that are not known here are those of others, such as of a proxy. */
function itemIn(query: URLSearchParams): Record<string, unknown> {
  const [name, key, count] = ["name", "key", "count"].map((field) => query.get(field));
  return {
    name,
    ...(key !== null && { key }),
    // `Number("")` is 0.
    ...(count != null && { count: /^[\d.]+(e[+-]?\d+)?$/i.test(count) ? Number(count) : NaN }),
  };
}

function readBody<TName extends string>(body: unknown, inputs: LiveInputs<TName>): Asked<TName> {
  const { action, ...given } = Object(body) as { action?: unknown };
  if (action === "limit") return { action, item: inputs.item(given, ["key", "count", "reserve"]) };
  if (action === "reset") return { action, item: inputs.item(given, ["key"]) };
  throw unknownAction("limit or reset");
}

/**
 * Only JSON: a page of another origin can send forms and plain text with the visitor's cookies, and must
 * ask first before it sends JSON.
 */
async function bodyOf(request: Request): Promise<unknown> {
  const [type = ""] = (request.headers.get("Content-Type") ?? "").split(";");
  if (type.trim().toLowerCase() !== "application/json") {
    throw new RefusedRequest("UNSUPPORTED_MEDIA_TYPE", "send JSON, as application/json");
  }
  const decoder = new TextDecoder();
  let text = "";
  const reader = request.body?.getReader();
  for (let size = 0; reader !== undefined;) {
    const { done, value } = await reader.read().catch(() => {
      throw new RefusedRequest("BAD_REQUEST", "the body has not arrived as a whole");
    });
    if (done) break;
    size += value.byteLength;
    if (size > MAX_BODY) {
      await reader.cancel();
      throw new RefusedRequest("PAYLOAD_TOO_LARGE", `the body has more than ${MAX_BODY} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
  return parsed(text);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RefusedRequest("BAD_REQUEST", "the input is no JSON");
  }
}

function unknownAction(actions: string): RefusedRequest {
  return new RefusedRequest("BAD_REQUEST", `the action is not ${actions}`);
}
