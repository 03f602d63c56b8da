/**
 * Checks whether live updates pass the proxies in front of the application. Some proxies collect the
 * whole answer before they send anything. Such a proxy never sends a stream that does not end.
 */
import { failure, type Finding, messageOf, ok, warning } from "./finding.js";
import { readTrpcError, type TrpcError } from "./trpc-error.js";

export interface StreamOptions {
  /** The URL of tRPC, such as `http://localhost:3000/api/trpc`. */
  url: string;
  /** Limits to watch, in the order in which they are tried. */
  names: readonly string[];
  /** Lines of the form `name: value`. */
  headers: readonly string[];
  /** How long to wait for the first event, ms. @default 5000 */
  patience?: number;
}

const CHECK = "stream";

/** The answer of the application to one attempt. */
type Answer =
  | { kind: "live" }
  | { kind: "silent" }
  /**
   * tRPC itself has refused: the procedure has failed, the input was refused, or there is no such
   * procedure.
   */
  | { kind: "refused"; error: TrpcError }
  /** Something else than tRPC has answered. */
  | { kind: "foreign"; message: string }
  | { kind: "unreachable"; message: string };

/**
 * Checks one stream. The finding never shows the password or the query of the URL, nor a line of a
 * header.
 */
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
  const ask = async (input: unknown) => {
    target.searchParams.set("input", JSON.stringify(input));
    return watch(target.href, headers, patience);
  };
  let first: Answer | undefined;
  let isWrapped = false;
  for (const name of names) {
    const input = { items: [{ name }] };
    let answer = await ask(isWrapped ? { json: input } : input);
    // With superjson, the answer to a plain input says only that the input is not superjson's.
    if (!isWrapped && answer.kind === "refused" && answer.error.isWrapped) {
      isWrapped = true;
      answer = await ask({ json: input });
    }
    if (answer.kind !== "refused") return findingOf(answer, shown, patience);
    first ??= answer;
  }
  return findingOf(first!, shown, patience);
}

/**
 * Moves the user and the password from the URL to a header, because `fetch` refuses a URL with a
 * password.
 */
function userOf(url: URL): Record<string, string> {
  if (url.username === "" && url.password === "") return {};
  const bytes = new TextEncoder().encode(
    `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`,
  );
  url.username = url.password = "";
  return { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
}

/** Adds a header. `false` for a line that is not valid: the error of `Headers` would quote the line. */
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
  if (answer.kind === "refused") return refusal(answer.error, shown);
  if (answer.kind === "unreachable") {
    const message = `cannot reach ${shown}: ${answer.message}`;
    return failure(CHECK, message, "start the application, or pass the URL at which it listens");
  }
  return failure(
    CHECK,
    `there is no tRPC at ${shown}: ${answer.message}`,
    `pass the URL of tRPC, such as http://localhost:3000/api/trpc; if a log-in is in front, ${USER}`,
  );
}

function refusal({ code, message }: TrpcError, shown: string): Finding {
  const reason = code === undefined ? message : `${code}, ${message}`;
  if (code === "NOT_FOUND") {
    return failure(
      CHECK,
      `the tRPC at ${shown} has no rateLimit.watch: ${reason}`,
      "mount the router of createRateLimitTRPC in yours, rateLimit: rl.router, and pass the URL of tRPC",
    );
  }
  return warning(CHECK, `${shown} has refused to watch a limit: ${reason}`, adviceFor(code));
}

function adviceFor(code: string | undefined): string {
  if (code === "UNAUTHORIZED" || code === "FORBIDDEN") return USER;
  if (code === "BAD_REQUEST") return `pass the name of a limit by --limit, or ${USER}`;
  return `look into the log of the application, or ${USER}`;
}

const USER = 'pass the cookie of one who is logged in by --header "cookie: ..."';

async function watch(url: string, headers: Headers, patience: number): Promise<Answer> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), patience);
  try {
    const { signal } = controller;
    const response = await fetch(url, { headers, signal });
    const type = response.headers.get("content-type") ?? "";
    if (response.ok && type.startsWith("text/event-stream")) return await firstEvent(response);
    const text = await response.text();
    const error = readTrpcError(text);
    if (error !== undefined) return { kind: "refused", error };
    return { kind: "foreign", message: shownAnswer(response, type, text) };
  } catch (error) {
    if (controller.signal.aborted) return { kind: "silent" };
    const { cause } = error as { cause?: unknown };
    return { kind: "unreachable", message: messageOf(cause ?? error) };
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
        const error = readTrpcError(/^data: (.*)$/m.exec(event)?.[1] ?? "");
        return { kind: "refused", error: error ?? UNREADABLE };
      }
      // tRPC's own events have names: connected, ping, return.
      if (/^data: /m.test(event) && !/^event: /m.test(event)) return { kind: "live" };
    }
  }
  return { kind: "refused", error: { ...UNREADABLE, message: "the stream has ended at once" } };
}

const UNREADABLE: TrpcError = {
  message: "with an error that only the transformer of the application can read",
  code: undefined,
  isWrapped: false,
};

/** Describes an answer. The title of a page tells a proxy or a log-in. */
function shownAnswer({ status, url, redirected }: Response, type: string, text: string): string {
  const title = /<title>\s*([^<\n]{1,80}?)\s*<\/title>/i.exec(text)?.[1];
  const what = /html/.test(type) || title !== undefined ? "an HTML page" : "an answer";
  const named = title === undefined ? "" : ` with the title "${title}"`;
  const from = redirected ? `, after a redirect to ${new URL(url).pathname}` : "";
  return `HTTP ${status}, ${what}${named}${from}`;
}
