import { isIPv4, isIPv6 } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { validateKey } from "../../../core/validate-key.js";
import { ipKey, RateLimitInputError } from "../../../server/index.js";
import { createLimitedTRPC } from "../../support/limited-trpc.js";
import { cases } from "../../support/cases.js";

/** Groups of IPv6, often 0, so that compression and the special networks occur. */
const group = fc.oneof(fc.constantFrom(0, 0, 0, 1, 0x64, 0xff9b, 0xffff), fc.nat(0xffff));
const eight = fc.array(group, { minLength: 8, maxLength: 8 });
/** The starts of addresses that hold an IPv4 address, in full and in part. */
const special = fc.constantFrom(
  [0, 0, 0, 0, 0, 0xffff],
  [0x64, 0xff9b, 0, 0, 0, 0],
  [0x64, 0xff9b, 0, 0],
  [0x64, 0xff9b],
  [0x64, 0xff9b, 1],
  [0, 0, 0, 0, 0, 0],
  [0, 0, 0, 0, 0xffff, 0],
  [0x2001, 0],
  [0x2002],
);
const groups = fc.oneof(
  eight,
  fc.tuple(special, eight).map(([start, rest]) => [...start, ...rest.slice(start.length)]),
);
const prefixes = fc.integer({ min: 1, max: 128 });
const ipv4 = fc.array(fc.nat(255), { minLength: 4, maxLength: 4 }).map((each) => each.join("."));

const full = (each: readonly number[]) =>
  each.map((part) => part.toString(16).padStart(4, "0")).join(":");

/** What the parser of URLs makes of an address. */
const canonical = (address: string) => new URL(`http://[${address}]/`).hostname.slice(1, -1);

const bitsOf = (each: readonly number[]) =>
  each.map((part) => part.toString(2).padStart(16, "0")).join("");

/** The spellings of one address: full, short, upper case, with brackets, port, zone or spaces. */
const spellings = (address: string) => [
  address,
  canonical(address),
  address.toUpperCase(),
  `[${address}]`,
  `[${canonical(address)}]:443`,
  ` ${address}\t`,
  `${address}%eth0`,
];

/** Whether the bits of an IPv6 address alone do not say whose it is. */
const isTranslated = (each: readonly number[]) =>
  isIPv4(ipKey(full(each), { ipv6Prefix: 128 })) ||
  each[0] === 0x2002 ||
  toHex(each).startsWith("64:ff9b:1:");
const toHex = (each: readonly number[]) => each.map((part) => part.toString(16)).join(":");

describe("ipKey", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    [" 192.0.2.1 ", "192.0.2.1"],
    ["192.0.2.1:51234", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:C000:0201", "192.0.2.1"],
    ["[::ffff:192.0.2.1]:443", "192.0.2.1"],
    ["0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"],
    ["64:ff9b::192.0.2.1", "192.0.2.1"],
    ["64:ff9b::", "64:ff9b::"],
    ["::203.0.113.7", "203.0.113.7"],
    ["::ffff:0:203.0.113.7", "203.0.113.7"],
    ["2001::4136:e378:8000:63bf:3fff:fdd2", "192.0.2.45"],
    ["64:ff9b:1::192.0.2.1", "64:ff9b:1::c000:201"],
    ["64:ff9b:1:c000:2:100::", "64:ff9b:1:c000:2:100::"],
    ["2002:c000:201:7::1", "2002:c000:201::"],
    ["2001:DB8:1:2:3:4:5:6", "2001:db8:1:2::"],
    ["2001:db8:1:2::", "2001:db8:1:2::"],
    ["[2001:db8:1:2::9]:8080", "2001:db8:1:2::"],
    ["fe80::1%eth0", "fe80::"],
    ["::1", "::"],
    ["::", "::"],
  ])("makes of %s the key %s", (address, key) => {
    expect(ipKey(address)).toBe(key);
  });

  it.each([
    [32, "2001:db8::"],
    [48, "2001:db8:1::"],
    [56, "2001:db8:1:200::"],
    [128, "2001:db8:1:2ff:3:4:5:6"],
  ])("keeps %i bits of an IPv6 address", (ipv6Prefix, key) => {
    expect(ipKey("2001:db8:1:2ff:3:4:5:6", { ipv6Prefix })).toBe(key);
  });

  it.each(["::ffff:", "::", "::ffff:0:", "64:ff9b::", "64:ff9b:1::", "64:ff9b:1:2:3:4:"])(
    "gives two visitors of IPv4 two keys, whatever prefix counts, where they come as %s",
    (start) => {
      fc.assert(
        fc.property(ipv4, ipv4, prefixes, (a, b, ipv6Prefix) => {
          fc.pre(!a.startsWith("0.") && !b.startsWith("0."));
          const [one, other] = [a, b].map((each) => ipKey(start + each, { ipv6Prefix }));
          expect(one === other).toBe(a === b);
        }),
      );
    },
  );

  it("gives all networks behind one router of 6to4 one key", () => {
    fc.assert(
      fc.property(eight, eight, fc.integer({ min: 48, max: 128 }), (a, b, ipv6Prefix) => {
        const [one, other] = [a, b].map((each) =>
          ipKey(full([0x2002, a[1]!, a[2]!, ...each.slice(3)]), { ipv6Prefix }),
        );
        expect(one).toBe(other);
      }),
    );
  });

  it("gives all spellings of an address one key", () => {
    fc.assert(
      fc.property(groups, prefixes, (each, ipv6Prefix) => {
        const keys = spellings(full(each)).map((text) => ipKey(text, { ipv6Prefix }));
        expect(new Set(keys).size).toBe(1);
      }),
    );
    fc.assert(
      fc.property(ipv4, (address) => {
        const mapped = `::ffff:${address}`;
        const keys = [`${address}:80`, mapped, canonical(mapped), `[${mapped}]:80`];
        expect(keys.map((text) => ipKey(text))).toEqual(keys.map(() => address));
      }),
    );
  });

  it("gives two IPv6 addresses one key exactly if they are of one network", () => {
    const other = fc.tuple(fc.nat(127), groups);
    fc.assert(
      fc.property(groups, other, prefixes, (a, [shared, rest], ipv6Prefix) => {
        // The second address has the first bits of the first one.
        const bits = bitsOf(a).slice(0, shared) + bitsOf(rest).slice(shared);
        const b = Array.from({ length: 8 }, (_, i) => parseInt(bits.slice(16 * i, 16 * i + 16), 2));
        fc.pre(!isTranslated(a) && !isTranslated(b));
        const isSame = bits.slice(0, ipv6Prefix) === bitsOf(a).slice(0, ipv6Prefix);
        expect(ipKey(full(a), { ipv6Prefix }) === ipKey(full(b), { ipv6Prefix })).toBe(isSame);
      }),
      { numRuns: cases(2000) },
    );
  });

  it("gives two IPv4 addresses one key exactly if they are equal", () => {
    fc.assert(
      fc.property(ipv4, ipv4, (a, b) => {
        expect(ipKey(a) === ipKey(b)).toBe(a === b);
      }),
    );
  });

  it("makes of a key the same key, in the canonical form of its address", () => {
    fc.assert(
      fc.property(groups, prefixes, (each, ipv6Prefix) => {
        const key = ipKey(full(each), { ipv6Prefix });
        expect(ipKey(key, { ipv6Prefix })).toBe(key);
        expect(isIPv4(key) || canonical(key) === key).toBe(true);
        expect(() => validateKey(key)).not.toThrow();
      }),
      { numRuns: cases(2000) },
    );
  });

  it("accepts of any text what Node calls an address, and nothing else", () => {
    const nearly = fc.string({ unit: fc.constantFrom(..."0123456789abcfF:.::"), maxLength: 24 });
    const broken = fc
      .tuple(groups.map(full).map(canonical), fc.nat(38), fc.constantFrom(..."0f:.g"))
      .map(([text, at, more]) => text.slice(0, at) + more + text.slice(at + 1));
    const isAccepted = (text: string) => {
      try {
        return ipKey(text) !== undefined;
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(fc.oneof(nearly, broken, ipv4), (text) => {
        fc.pre(!/^[\d.]+:\d+$/.test(text));
        expect(isAccepted(text)).toBe(isIPv4(text) || isIPv6(text));
      }),
      { numRuns: cases(5000) },
    );
  });

  it.each([
    undefined,
    null,
    "",
    " ",
    "unknown",
    "localhost",
    "_hidden",
    "1.2.3",
    "1.2.3.256",
    "01.2.3.4",
    "0x7f.0.0.1",
    "2130706433",
    "192.0.2.1, 198.51.100.7",
    "192.0.2.1/24",
    "2001:db8::/32",
    "[2001:db8::1",
    "1::2::3",
    "::ffff:192.0.2.256",
    "192.0.2.1%eth0",
    "fe80::1%",
    7 as never,
    { toString: () => "192.0.2.1" } as never,
  ])("refuses %s", (address) => {
    expect(() => ipKey(address)).toThrow(RateLimitInputError);
    expect(() => ipKey(address)).toThrow(/^ipKey needs one IPv4 or IPv6 address, got /);
  });

  it.each([undefined, null, "", "  "])(
    "says of %j that there may be no proxy in front",
    (address) => {
      expect(() => ipKey(address)).toThrow("there is no proxy in front that sends it");
    },
  );

  it("is a BAD_REQUEST for tRPC if there is no address", async () => {
    const { t, rl } = createLimitedTRPC({ send: { kind: "token bucket", rate: 1, period: 1000 } });
    const router = t.router({
      send: t.procedure.use(rl.rateLimited("send", { key: () => ipKey(null) })).query(() => true),
    });
    await expect(router.createCaller({}).send()).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });

  it("does not repeat all of a hostile header in its message", () => {
    expect(() => ipKey("9".repeat(10_000))).toThrow(/^.{0,120}$/);
  });

  it.each([0, 129, 1.5, NaN, "64" as never])("refuses the prefix %s", (ipv6Prefix) => {
    const message = /^ipv6Prefix must be a whole number from 1 to 128, got /;
    expect(() => ipKey("::1", { ipv6Prefix })).toThrow(message);
    expect(() => ipKey("192.0.2.1", { ipv6Prefix })).toThrow(message);
  });

  it("refuses options that do not exist", () => {
    expect(() => ipKey("::1", { prefix: 48 } as never)).toThrow(
      "prefix is not an option of ipKey()",
    );
  });
});
