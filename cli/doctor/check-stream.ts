/**
 * Whether live updates pass the proxies in front of the application. A proxy that collects the whole
 * answer before it sends anything never sends an answer without an end.
 */
import { failure, type Finding, messageOf, ok, warning } from "./finding.js";

export interface StreamOptions {
  /** Of tRPC, such as `http://localhost:3000/api/trpc`. */
  url: string;
  /** Limits to watch, in the order in which they are tried. */
  names: readonly string[];
  /** Lines of the form `name: value`. */
  headers: readonly string[];
  /** How long to wait for the first event, ms. @default 5000 */
  patience?: number;
}

const CHECK = "stream";

/** What the application has answered to one attempt. */
type Answer =
  | { kind: "live" }
  | { kind: "silent" }
  /** The procedure has failed, or the input was refused. */
  | { kind: "refused"; message: string }
  | { kind: "missing"; message: string };

/** Its findings never show the password or the query of the URL, nor a line of a header. */
export async function checkStream({
  url,
  names,
  headers: lines,
  patience = 5000,
}: StreamOptions): Promise<Finding> {
  if (names.length === 0) {
    return warning(CHECK, "no name of a limit is known", "pass one by --limit");
  }
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    return failure(CHECK, "--app is not a URL", "pass one as http://localhost:3000/api/trpc");
  }
  const target = new URL(url);
  target.pathname = `${target.pathname.replace(/\/$/, "")}/rateLimit.watch`;
  const shown = `${target.origin}${new URL(url).pathname.replace(/\/$/, "")}`;
  const headers = new Headers({ accept: "text/event-stream", ...userOf(target) });
  for (const [i, line] of lines.entries()) {
    if (!addLine(headers, line)) {
      return failure(
        CHECK,
        `line ${i + 1} of --header is not the name of a header field, a colon and its value`,
        'pass each line in quotes, such as --header "cookie: ..."',
      );
    }
  }
  let answer: Answer | undefined;
  for (const name of names) {
    // The second input is what superjson makes of the first.
    const input = { items: [{ name }] };
    for (const sent of [input, { json: input }]) {
      target.searchParams.set("input", JSON.stringify(sent));
      answer = await watch(target.href, headers, patience);
      if (answer.kind !== "refused") return findingOf(answer, shown, patience);
    }
  }
  return findingOf(answer!, shown, patience);
}

/** Takes the user and the password out of the URL, because `fetch` refuses a URL that has them. */
function userOf(url: URL): Record<string, string> {
  if (url.username === "" && url.password === "") return {};
  const bytes = new TextEncoder().encode(
    `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`,
  );
  url.username = url.password = "";
  return { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
}

/** The errors of `Headers` quote what they refuse. */
function addLine(headers: Headers, line: string): boolean {
  const [name = "", ...value] = line.split(":");
  try {
    headers.set(name.trim(), value.join(":").trim());
    return value.length > 0;
  } catch {
    return false;
  }
}

function findingOf(answer: Answer, shown: string, patience: number): Finding {
  if (answer.kind === "live") return ok(CHECK, `live updates arrive from ${shown}`);
  if (answer.kind === "silent") {
    return warning(
      CHECK,
      `${shown} has sent no event within ${patience} ms: a proxy may collect the answer`,
      "turn off buffering and compression of text/event-stream (nginx: proxy_buffering off). " +
        "Until then, pages poll",
    );
  }
  if (answer.kind === "refused") {
    return warning(
      CHECK,
      `${shown} has refused to watch a limit: ${answer.message}`,
      "pass the name of a limit by --limit, and the cookie of a user by --header",
    );
  }
  return failure(
    CHECK,
    `${shown} has no rateLimit.watch: ${answer.message}`,
    "pass the URL of tRPC, and mount the router as rateLimit",
  );
}

async function watch(url: string, headers: Headers, patience: number): Promise<Answer> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), patience);
  try {
    const { signal } = controller;
    const response = await fetch(url, { headers, signal });
    const type = response.headers.get("content-type") ?? "";
    if (response.ok && type.startsWith("text/event-stream")) return await firstEvent(response);
    const message = `HTTP ${response.status}${messageIn(await response.text())}`;
    const isOfTrpc = type.startsWith("application/json") && response.status !== 404;
    return { kind: isOfTrpc ? "refused" : "missing", message };
  } catch (error) {
    if (controller.signal.aborted) return { kind: "silent" };
    const { cause } = error as { cause?: unknown };
    return { kind: "missing", message: messageOf(cause ?? error) };
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}

/** Reads until the first event that the procedure itself has sent. */
async function firstEvent({ body }: Response): Promise<Answer> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const events = text.split("\n\n").slice(0, -1);
    for (const event of events) {
      if (/^event: serialized-error/m.test(event)) {
        return { kind: "refused", message: messageIn(event).slice(2) };
      }
      // tRPC's own events have names: connected, ping, return.
      if (/^data: /m.test(event) && !/^event: /m.test(event)) return { kind: "live" };
    }
  }
  return { kind: "refused", message: "the stream has ended at once" };
}

/** `: ` and the message of tRPC's error, if there is one. */
function messageIn(text: string): string {
  const found = /"message":("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  return found === undefined ? "" : `: ${String(JSON.parse(found)).split("\n", 1)[0]}`;
}
