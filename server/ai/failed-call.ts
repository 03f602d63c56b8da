/** Whether a call of a model that failed has cost nothing. */

/** Errors of the AI SDK from before a request is sent. */
const BEFORE_SENDING = new Set([
  "AI_InvalidArgumentError",
  "AI_InvalidPromptError",
  "AI_LoadAPIKeyError",
  "AI_LoadSettingError",
  "AI_NoSuchModelError",
  "AI_UnsupportedFunctionalityError",
]);
/** Codes of Node for a connection that was never made. */
const NOT_CONNECTED = new Set(["ECONNREFUSED", "EAI_AGAIN", "ENOTFOUND"]);

/**
 * How many errors to look at, from the outer one inwards: the AI SDK, `fetch` and Node wrap an error once
 * each.
 */
const MAX_CAUSES = 4;

/**
 * Whether the provider has refused the call before any work (a status of 400 or more), or has never got
 * the call. After any other error, such as an abort or a cut connection, the provider may bill its work.
 */
export function isRefusal(error: unknown): boolean {
  if (BEFORE_SENDING.has(nameOf(error)) || (statusOf(error) ?? 0) >= 400) return true;
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES; depth++) {
    const { code, cause: next } = Object(cause) as { code?: unknown; cause?: unknown };
    if (typeof code === "string" && NOT_CONNECTED.has(code)) return true;
    cause = next;
  }
  return false;
}

/** The status of the provider's answer, if the error has a status. */
export function statusOf(error: unknown): number | undefined {
  const { statusCode } = Object(error) as { statusCode?: unknown };
  return typeof statusCode === "number" ? statusCode : undefined;
}

function nameOf(error: unknown): string {
  const { name } = Object(error) as { name?: unknown };
  return typeof name === "string" ? name : "";
}
