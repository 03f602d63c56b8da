/**
 * The key of a visitor's network: one key for all spellings of an address, and for all addresses
 * that one subscriber can choose from. It needs neither Node nor a library.
 *
 * Rejected: the `URL` parser (it takes `1.2` and `0x7f000001` for addresses), `node:net` (absent on
 * edge runtimes).
 */
import { describe, RateLimitConfigError, RateLimitInputError } from "../../core/errors.js";
import { namesOf, rejectUnknownOptions } from "../limiter/known-options.js";

/** The options of `ipKey`. */
export interface IpKeyOptions {
  /**
   * How many bits of an IPv6 address count: whole, 1 to 128. A subscriber usually has all addresses
   * of a /64, and often those of a /56 or a /48.
   * @default 64
   */
  ipv6Prefix?: number | undefined;
}

const OPTIONS = namesOf<IpKeyOptions>({ ipv6Prefix: true });

/**
 * The key for an IP address:
 *
 * - IPv4: the address;
 * - IPv6: the first address of its network, in lower case and compressed: `2001:db8:1:2::`;
 * - IPv4 inside of IPv6 (`::ffff:192.0.2.1`, and NAT64's `64:ff9b::192.0.2.1`): the IPv4 address.
 *
 * Spaces around it, brackets, a port and a zone (`fe80::1%eth0`) are removed.
 *
 * @throws RateLimitInputError with `reason: "key"` for everything else: a missing address must not
 * become a bucket that all callers share, and invented ones must not become rows.
 * @throws RateLimitConfigError for an `ipv6Prefix` that is not a whole number from 1 to 128.
 *
 * @example
 * import { ipKey } from "trpc-rate-limit/server";
 *
 * // The header that your proxy writes, and no visitor
 * await limiter.limit("sendMessage", { key: ipKey(request.headers.get("x-real-ip")) });
 */
export function ipKey(address: string | null | undefined, options: IpKeyOptions = {}): string {
  rejectUnknownOptions(options, OPTIONS, "ipKey()");
  const { ipv6Prefix = 64 } = options;
  if (!Number.isInteger(ipv6Prefix) || ipv6Prefix < 1 || ipv6Prefix > 128) {
    throw new RateLimitConfigError("ipv6Prefix", ipv6Prefix, "a whole number from 1 to 128");
  }
  const text = typeof address === "string" ? bareAddress(address.trim()) : "";
  if (IPV4.test(text)) return text;
  const groups = parseIpv6(text);
  if (groups === undefined) {
    const message = `ipKey needs one IPv4 or IPv6 address, got ${describe(address)}${text === "" ? NO_PROXY : ""}`;
    throw new RateLimitInputError("key", message);
  }
  const masked = groups.map((group, i) => group & maskOf(ipv6Prefix - 16 * i));
  return embeddedIpv4(groups) ?? formatIpv6(masked);
}

/** Why an address is missing most often: only a proxy sends the header that it is read from. */
const NO_PROXY =
  "; if it is read from a header, there is no proxy in front that sends it: take the address of " +
  "the connection, as docs/visitors.md says";

/** The first six groups of addresses whose last two are an IPv4 address (RFC 4291, RFC 6052). */
const MAPPED = "0:0:0:0:0:ffff";
const NAT64 = "64:ff9b:0:0:0:0";

function embeddedIpv4(groups: readonly number[]): string | undefined {
  const start = toHex(groups.slice(0, 6));
  const [high, low] = groups.slice(6) as [number, number];
  // `64:ff9b::` itself is no visitor, but the network of addresses that are not NAT64's.
  if (start !== MAPPED && !(start === NAT64 && (high | low) !== 0)) return undefined;
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

function toHex(groups: readonly number[]): string {
  return groups.map((group) => group.toString(16)).join(":");
}

/** Of four numbers up to 255. A leading zero is refused, because some parsers read it as octal. */
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/** Without brackets, port and zone. What is left of something else is no address. */
function bareAddress(text: string): string {
  const [, bracketed, withPort] =
    /^\[([^[\]]+)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/.exec(text) ?? [];
  const address = bracketed ?? withPort ?? text;
  return address.includes(":") ? address.replace(/%.+$/s, "") : address;
}

/** The eight groups of an address in any form of RFC 4291. */
function parseIpv6(text: string): number[] | undefined {
  // The last 32 bits may be written as an IPv4 address.
  const tail = text.slice(text.lastIndexOf(":") + 1);
  const hex = IPV4.test(tail) ? text.slice(0, -tail.length) + hexOfIpv4(tail) : text;
  const halves = hex.split("::");
  if (halves.length > 2) return undefined;
  const [before, after = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - before!.length - after.length;
  // `::` stands for at least one group.
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...before!, ...Array<string>(missing).fill("0"), ...after];
  return groups.every((group) => /^[\da-f]{1,4}$/i.test(group))
    ? groups.map((group) => parseInt(group, 16))
    : undefined;
}

function hexOfIpv4(text: string): string {
  const [a, b, c, d] = text.split(".").map(Number) as [number, number, number, number];
  return toHex([(a << 8) | b, (c << 8) | d]);
}

/** The mask of a group of which so many bits count; below 0 none, above 16 all. */
function maskOf(bits: number): number {
  return (0xffff << (16 - Math.min(16, Math.max(0, bits)))) & 0xffff;
}

/** The canonical text of RFC 5952: the first of the longest runs of zeros is `::`. */
function formatIpv6(groups: readonly number[]): string {
  const text = toHex(groups);
  const runs = [...text.matchAll(/\b0(?::0)+\b/g)];
  const longest = Math.max(0, ...runs.map(([run]) => run.length));
  const run = runs.find((each) => each[0].length === longest);
  if (run === undefined) return text;
  const [before, after] = [text.slice(0, run.index), text.slice(run.index + longest)];
  return `${before.replace(/:$/, "")}::${after.replace(/^:/, "")}`;
}
