/**
 * Checks whether live updates pass the proxies in front of the application. Some proxies collect the
 * whole answer before they send anything. Such a proxy never sends a stream that does not end.
 */
import { failure, type Finding, ok, warning } from "./finding.js";
import type { TrpcError } from "./trpc-error.js";
import { type Answer, watch } from "./watch.js";

export interface StreamOptions {
  /** The URL of tRPC, such as `http://localhost:3000/api/trpc`, or of `createRateLimitHandler`. */
  url: string;
  /** Limits to watch, in the order in which they are tried. */
  names: readonly string[];
  /** Lines of the form `name: value`. */
  headers: readonly string[];
  /** How long to wait for the first event, ms. @default 5000 */
  patience?: number;
}

const CHECK = "stream";

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
  const handler = new URL(url);
  userOf(handler);
  handler.searchParams.set("action", "watch");
  const askHandler = async (items: unknown) => {
    handler.searchParams.set("items", JSON.stringify(items));
    return watch(handler.href, headers, patience);
  };
  let first: Answer | undefined;
  let isWrapped = false;
  let isHandler = false;
  for (const name of names) {
    const input = { items: [{ name }] };
    const asked = isWrapped ? { json: input } : input;
    let answer = await (isHandler ? askHandler(input.items) : ask(asked));
    // With superjson, the answer to a plain input says only that the input is not superjson's.
    if (!isWrapped && answer.kind === "refused" && answer.error.isWrapped) {
      isWrapped = true;
      answer = await ask({ json: input });
    }
    if (!isHandler && isUnclear(answer)) {
      // It may be the handler of limits, and not tRPC.
      const other = await askHandler(input.items);
      isHandler = isOfHandler(other);
      if (isHandler) answer = other;
    }
    if (answer.kind !== "refused") return findingOf(answer, shown, patience);
    first ??= answer;
  }
  return findingOf(first!, shown, patience);
}

/** Whether tRPC may not be there: hosts answer an unknown path by a page, or by an error of their own. */
const isUnclear = (answer: Answer) =>
  answer.kind === "foreign" || (answer.kind === "refused" && answer.error.code === undefined);

/** tRPC refuses the question that is for the handler with NOT_FOUND. */
const isOfHandler = (answer: Answer) =>
  answer.kind === "live" ||
  answer.kind === "silent" ||
  (answer.kind === "refused" && ![undefined, "NOT_FOUND"].includes(answer.error.code));

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
    `there is no tRPC and no handler of limits at ${shown}: ${answer.message}`,
    `pass the URL of tRPC, such as http://localhost:3000/api/trpc, or of createRateLimitHandler; if a log-in is in front, ${USER}`,
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
