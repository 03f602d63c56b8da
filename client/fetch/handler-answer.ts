/** Reads the answers of the handler of limits. */
import { denialOf } from "../../core/denial-of.js";

/** The error of an answer. `isRateLimitError` knows it where the answer is a denial. */
export class HandlerError extends Error {
  override readonly name = "HandlerError";
  /** The same properties as those of an error of tRPC's client. */
  readonly data: { code: string | undefined; httpStatus: number; rateLimit?: unknown };

  /** @param body the JSON of the answer, or anything else. */
  constructor(httpStatus: number, body: unknown) {
    const { code, message } = Object(body) as { code?: unknown; message?: unknown };
    super(typeof message === "string" ? message : `The server answered ${httpStatus}`);
    const rateLimit = httpStatus === 429 ? denialOf(body) : undefined;
    this.data = {
      code: typeof code === "string" ? code : rateLimit && "TOO_MANY_REQUESTS",
      httpStatus,
      ...(rateLimit && { rateLimit }),
    };
  }
}

/**
 * The JSON of an answer.
 *
 * @throws HandlerError for any other status than one of success. Also where another page answers, as
 * servers of one-page applications do for a URL that they do not know. Asking again does not help there.
 * @throws SyntaxError for JSON that has not arrived whole.
 */
export async function jsonOf(response: Response): Promise<unknown> {
  const isJson = response.headers.get("Content-Type")?.includes("json");
  if (response.ok && isJson) return response.json();
  // A proxy answers with a page of its own.
  const body: unknown = isJson && (await response.json().catch(() => undefined));
  if (!response.ok) throw new HandlerError(response.status, body);
  const message = `No handler of rate limits answers at ${response.url}: the answer is no JSON`;
  throw new HandlerError(404, { code: "NOT_FOUND", message });
}
