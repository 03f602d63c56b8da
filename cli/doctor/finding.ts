/** The result of one check of `doctor`. */
export interface Finding {
  /** A short name that stays the same, for scripts. */
  check: string;
  /**
   * An `error` keeps limits from working, or makes them wrong. With `advice`, limits are right, and could
   * be better.
   */
  level: "ok" | "advice" | "warning" | "error";
  message: string;
  /** The advice on what to do. The text never has the password of a URL. */
  advice?: string;
}

export function ok(check: string, message: string): Finding {
  return { check, level: "ok", message };
}

export function advised(check: string, message: string, todo: string): Finding {
  return { check, level: "advice", message, advice: todo };
}

export function warning(check: string, message: string, advice: string): Finding {
  return { check, level: "warning", message, advice };
}

export function failure(check: string, message: string, advice: string): Finding {
  return { check, level: "error", message, advice };
}

export function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some(({ level }) => level === "error");
}

/** Messages of `fetch` and of the pool of mariadb, which leave the reason to the cause. */
const SAYS_NOTHING = /^fetch failed$|pool failed to retrieve a connection/;

/** The first line of an error's message. The other lines may show parameters. */
export function messageOf(error: unknown): string {
  // A connection to several addresses fails with several errors and no message.
  const { errors, cause } = error as { errors?: unknown[]; cause?: unknown };
  const first = Array.isArray(errors) && errors.length > 0 ? errors[0] : error;
  if (cause instanceof Error && SAYS_NOTHING.test((error as Error).message))
    return messageOf(cause);
  const text = first instanceof Error ? first.message || first.name : String(first);
  return text.trim().split("\n", 1)[0]!;
}

/** Runs a check. A check that throws becomes a warning, and does not end the other checks. */
export async function tried(
  check: string,
  run: () => Promise<Finding | Finding[]>,
): Promise<Finding[]> {
  try {
    return [await run()].flat();
  } catch (error) {
    const advice = "the user of the database may lack a right; the other checks are not affected";
    return [warning(check, `could not be checked: ${messageOf(error)}`, advice)];
  }
}
