/** Asks an application for a stream of a limit, and reads its first event. */
import { messageOf } from "./finding.js";
import { readTrpcError, type TrpcError } from "./trpc-error.js";

/** The answer of the application to one attempt. */
export type Answer =
  | { kind: "live" }
  | { kind: "silent" }
  /**
   * tRPC itself has refused: the procedure has failed, the input was refused, or there is no such
   * procedure. Or the handler of limits has.
   */
  | { kind: "refused"; error: TrpcError }
  /** Something else than tRPC has answered. */
  | { kind: "foreign"; message: string }
  | { kind: "unreachable"; message: string };

/** @param patience how long to wait for the first event, ms. */
export async function watch(url: string, headers: Headers, patience: number): Promise<Answer> {
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
