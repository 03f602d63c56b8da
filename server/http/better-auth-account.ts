/**
 * Finds the account of a request to better-auth. Each endpoint reads one field of the body. The endpoint
 * decides which field counts: a client can send the other fields, too, with another text each time.
 */

/** The parts of a plugin of better-auth that are used here. */
export interface PluginWithEndpoints {
  endpoints?: Record<string, { path?: string | undefined }> | undefined;
}

type AccountField = "email" | "username" | "phoneNumber";

/** The endpoints of better-auth 1.7 that read one of these fields. */
const READ_BY: Record<AccountField, readonly string[]> = {
  email: [
    "/admin/create-user",
    "/email-otp/check-verification-otp",
    "/email-otp/request-password-reset",
    "/email-otp/reset-password",
    "/email-otp/send-verification-otp",
    "/email-otp/verify-email",
    "/forget-password/email-otp",
    "/organization/invite-member",
    "/request-password-reset",
    "/send-verification-email",
    "/sign-in/email",
    "/sign-in/email-otp",
    "/sign-in/magic-link",
    "/sign-up/email",
  ],
  username: ["/is-username-available", "/sign-in/username"],
  phoneNumber: [
    "/phone-number/request-password-reset",
    "/phone-number/reset-password",
    "/phone-number/send-otp",
    "/phone-number/verify",
    "/sign-in/phone-number",
  ],
};

const FIELDS = new Map(
  Object.entries(READ_BY).flatMap(([field, paths]) => paths.map((path) => [path, field])),
);

/** @returns `undefined` for every body of an endpoint that is not known. */
export function accountOf(path: string, body: unknown): string | undefined {
  const field = FIELDS.get(path);
  if (field === undefined) return undefined;
  const value = (Object(body) as Record<string, unknown>)[field];
  return typeof value === "string" ? value.trim().toLowerCase() || undefined : undefined;
}

/**
 * The warning to log at start, or `undefined`. A rule needs a warning if its key function reads
 * `account`, and its endpoint has no known account field: each of its requests will be refused.
 *
 * A key function without the word `account` gets no warning. If such a function only calls another
 * function that reads the account, its requests are refused without a warning at start.
 */
export function warningOfAccounts(
  rules: readonly { pattern: string; key: (call: never) => unknown }[],
  plugins: readonly PluginWithEndpoints[],
  matches: (pattern: string, path: string) => boolean,
): string | undefined {
  const patterns = rules
    .filter(({ key }) => /\baccount\b/.test(String(key)))
    .map(({ pattern }) => pattern);
  const exact = patterns.filter((pattern) => !pattern.endsWith("/*"));
  const added = plugins.flatMap(({ endpoints = {} }) => Object.values(endpoints));
  const paths = [...exact, ...added.map(({ path = "" }) => path)].filter(
    (path) => !FIELDS.has(path) && patterns.some((pattern) => matches(pattern, path)),
  );
  if (paths.length === 0) return undefined;
  return (
    `betterAuthPlugin: the \`account\` is not known at ${[...new Set(paths)].join(", ")}. ` +
    "A key that needs it refuses every request there with 400. " +
    "Use rules for these paths whose keys read the field of `body` that the endpoint reads"
  );
}
