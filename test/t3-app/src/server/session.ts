import "server-only";

/**
 * Stands in for a session of better-auth or NextAuth: the user is who the cookie says. An
 * application has to verify that.
 */
export function userOf(headers: Headers): string | null {
  return /(?:^|;\s*)user=([\w-]+)/.exec(headers.get("cookie") ?? "")?.[1] ?? null;
}
