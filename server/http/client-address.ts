/**
 * The address of a visitor, read from the header of the application's own proxies, or from the connection.
 * It is the one place that decides what to believe: a visitor can send any header.
 */
import { RateLimitConfigError } from "../../core/errors.js";
import { namesOf, rejectUnknownOptions } from "../limiter/types/known-options.js";

/** The options of `clientAddress`. */
export interface ClientAddressOptions {
  /**
   * How many proxies of your own each request passes before it reaches this server: whole, at least 0.
   * With 0, no header is believed.
   * @default the variable `TRUSTED_PROXIES` of the environment; without it, 1 on Vercel and 0 elsewhere
   */
  proxies?: number | undefined;
  /** The address of the connection, such as `req.socket.remoteAddress`, if the server knows it. */
  connection?: string | undefined;
}

/** The headers of a request: those of `fetch`, or those of Node.js. */
export type RequestHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

const OPTIONS = namesOf<ClientAddressOptions>({ proxies: true, connection: true });

/** The unspecified address of RFC 5735: no visitor can have it. */
const UNKNOWN = "0.0.0.0";

/**
 * The address of the visitor who sent a request, for `ipKey`.
 *
 * Each proxy adds the address of its own peer at the end of `X-Forwarded-For`, so with `proxies: 2` the
 * visitor is the second entry from the right. All entries before it are the visitor's own words. Without
 * that entry, the visitor is the `connection`.
 *
 * Where neither is known, the answer is `0.0.0.0`: all visitors then share one bucket, because a visitor
 * who chose an address would have a new bucket for each call. In production, this is reported once.
 *
 * @throws RateLimitConfigError for `proxies` or `TRUSTED_PROXIES` that are not a whole number of at least 0.
 *
 * @example
 * import { clientAddress, ipKey } from "trpc-rate-limit/server";
 *
 * await limiter.limit("logIn", { key: ipKey(clientAddress(request.headers)) });
 */
export function clientAddress(headers: RequestHeaders, options: ClientAddressOptions = {}): string {
  rejectUnknownOptions(options, OPTIONS, "clientAddress()");
  const { proxies = proxiesOf(environment()), connection } = options;
  requireCount("proxies", proxies);
  const address = (proxies > 0 ? forwardedBy(headers, proxies) : undefined) ?? connection;
  if (address === undefined) warnOnce();
  return address ?? UNKNOWN;
}

/** The entry that the first of these proxies has written. */
function forwardedBy(headers: RequestHeaders, proxies: number): string | undefined {
  const entries = [fieldOf(headers) ?? ""].flat().join(",").split(",");
  return entries.at(-proxies)?.trim() || undefined;
}

function fieldOf(headers: RequestHeaders): string | readonly string[] | null | undefined {
  const field = "x-forwarded-for";
  return isFetch(headers) ? headers.get(field) : headers[field];
}

const isFetch = (headers: RequestHeaders): headers is { get(name: string): string | null } =>
  typeof headers.get === "function";

type Environment = Readonly<Record<string, string | undefined>>;

/** Empty on a runtime without `process`. */
function environment(): Environment {
  return (globalThis as { process?: { env?: Environment } }).process?.env ?? {};
}

function proxiesOf({ TRUSTED_PROXIES, VERCEL }: Environment): number {
  if (TRUSTED_PROXIES === undefined || TRUSTED_PROXIES.trim() === "") return VERCEL ? 1 : 0;
  const proxies = Number(TRUSTED_PROXIES);
  requireCount("TRUSTED_PROXIES", proxies, TRUSTED_PROXIES);
  return proxies;
}

function requireCount(option: string, proxies: number, given: unknown = proxies): void {
  if (Number.isInteger(proxies) && proxies >= 0) return;
  throw new RateLimitConfigError(option, given, "a whole number of at least 0");
}

let hasWarned = false;

/** Quiet in development, where there is one visitor. */
function warnOnce(): void {
  if (hasWarned || environment()["NODE_ENV"] !== "production") return;
  hasWarned = true;
  console.warn(
    "clientAddress: the addresses of visitors are not known, so all visitors share one bucket. Set " +
      "TRUSTED_PROXIES to the number of your own proxies; see docs/visitors.md of trpc-rate-limit",
  );
}
