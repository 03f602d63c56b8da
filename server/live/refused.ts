/** Requests that are refused, whatever carries them: a router, or a handler of HTTP. */

/** Named as the codes of tRPC, so that a router and a handler refuse alike. */
export type RefusalCode =
  | "BAD_REQUEST"
  | "CONFLICT"
  | "FORBIDDEN"
  | "METHOD_NOT_SUPPORTED"
  | "PAYLOAD_TOO_LARGE"
  | "UNSUPPORTED_MEDIA_TYPE";

/** The client may read the message. The cause is for the developer. */
export class RefusedRequest extends Error {
  override readonly name = "RateLimitRefusedRequest";

  constructor(
    readonly code: RefusalCode,
    message: string,
    cause?: Error,
  ) {
    super(message, { cause });
  }
}
