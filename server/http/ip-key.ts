/**
 * The key of a visitor's network: one key for all spellings of an address, and for all addresses that one
 * subscriber can choose from. The code needs neither Node nor a library.
 *
 * Rejected: the `URL` parser (it takes `1.2` and `0x7f000001` for addresses), `node:net` (absent on
 * edge runtimes).
 */
import { describe, RateLimitConfigError, RateLimitInputError } from "../../core/errors.js";
import { namesOf, rejectUnknownOptions } from "../limiter/types/known-options.js";

/** The options of `ipKey`. */
export interface IpKeyOptions {
  /**
   * How many bits of an IPv6 address count: whole, 1 to 128. A subscriber usually has all addresses of a
   * /64, and often all addresses of a /56 or a /48.
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
 * - an IPv4 address that is written or translated as IPv6: the IPv4 address;
 * - an IPv6 address that a router made of its IPv4 address (6to4): the network of that router, a /48.
 *
 * Spaces around the address, brackets, a port and a zone (`fe80::1%eth0`) are removed.
 *
 * @throws RateLimitInputError with `reason: "key"` for everything else: a missing address must not become
 * a bucket that all callers share, and invented addresses must not become rows.
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
  return embeddedIpv4(groups) ?? formatIpv6(networkOf(groups, ipv6Prefix));
}

/** The most common cause of a missing address: only a proxy sends the header, and there is no proxy. */
const NO_PROXY =
  "; if it is read from a header, there is no proxy in front that sends it: take the address of " +
  "the connection, as docs/visitors.md says";

/**
 * The first 96 bits of IPv6 addresses with an IPv4 address as their last 32 bits. The first 64 bits of
 * these addresses are the same: without this list, all IPv4 addresses would share one key.
 */
const EMBEDDING = [
  // Mapped (RFC 4291), as servers see IPv4 on a socket for both, and compatible, its older form
  "0:0:0:0:0:ffff",
  "0:0:0:0:0:0",
  // Translated (RFC 2765), and NAT64 (RFC 6052)
  "0:0:0:0:ffff:0",
  "64:ff9b:0:0:0:0",
];
/** Teredo (RFC 4380): the last 32 bits are the client's IPv4 address, inverted. */
const TEREDO = "2001:0:";
/** NAT64 of a network's own (RFC 8215). The network decides which bits hold the IPv4 address. */
const LOCAL_NAT64 = "64:ff9b:1:";
/** 6to4 (RFC 3056): the next 32 bits are the IPv4 address of a router, which has this /48. */
const SIX_TO_FOUR = 0x2002;

/** The IPv4 address of the one visitor that an address stands for. */
function embeddedIpv4(groups: readonly number[]): string | undefined {
  const start = toHex(groups.slice(0, 6));
  const [high, low] = groups.slice(6) as [number, number];
  // An address with 0 as its last 32 bits is a network, such as the key of a network, and no visitor.
  if (start !== EMBEDDING[0] && (high | low) === 0) return undefined;
  if (start.startsWith(TEREDO)) return ipv4Of(high ^ 0xffff, low ^ 0xffff);
  // `::1` is this machine. No visitor has an IPv4 address that begins with 0.
  if (!EMBEDDING.includes(start) || (start === EMBEDDING[1] && high < 256)) return undefined;
  return ipv4Of(high, low);
}

function ipv4Of(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** The first address of the network that counts as one visitor. */
function networkOf(groups: readonly number[], ipv6Prefix: number): number[] {
  const prefix = prefixOf(groups, ipv6Prefix);
  return groups.map((group, i) => group & maskOf(prefix - 16 * i));
}

function prefixOf(groups: readonly number[], ipv6Prefix: number): number {
  // A translator gives each visitor one address, and no visitor can choose another address.
  if (toHex(groups).startsWith(LOCAL_NAT64)) return 128;
  return groups[0] === SIX_TO_FOUR ? Math.min(48, ipv6Prefix) : ipv6Prefix;
}

function toHex(groups: readonly number[]): string {
  return groups.map((group) => group.toString(16)).join(":");
}

/** Four numbers up to 255. A leading zero is refused, because some parsers read the number as octal. */
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/**
 * The text without brackets, port and zone. Of a text that is no address, the rest is no address, either.
 */
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

/** The mask of a group (16 bits) of which the first `bits` count; below 0 none count, above 16 all. */
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
