/** Whom `clientAddress` takes for the visitor: by headers that visitors send, too. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { clientAddress, ipKey, RateLimitConfigError } from "../../../server/index.js";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  vi.resetModules();
});

const headersOf = (forwarded?: string) =>
  new Headers(forwarded === undefined ? {} : { "x-forwarded-for": forwarded });
const CLAIMED = "203.0.113.9, 198.51.100.7, 10.0.0.2";

describe("clientAddress", () => {
  it.each([
    [1, "10.0.0.2"],
    [2, "198.51.100.7"],
    [3, "203.0.113.9"],
    [0, "192.0.2.1"],
    // A request that has passed fewer proxies: the connection is the last thing that is known.
    [4, "192.0.2.1"],
  ])("counts %i proxies from the right, or takes the connection", (proxies, address) => {
    const connection = "192.0.2.1";
    expect(clientAddress(headersOf(CLAIMED), { proxies, connection })).toBe(address);
    expect(clientAddress({ "x-forwarded-for": CLAIMED }, { proxies, connection })).toBe(address);
    const split = CLAIMED.split(", ");
    expect(clientAddress({ "x-forwarded-for": split }, { proxies, connection })).toBe(address);
  });

  it("takes the connection of a request without the header", () => {
    expect(clientAddress(headersOf(), { proxies: 1, connection: "::1" })).toBe("::1");
    expect(clientAddress({}, { proxies: 1, connection: "::1" })).toBe("::1");
    expect(clientAddress(headersOf(" "), { proxies: 1, connection: "::1" })).toBe("::1");
  });

  it("gives visitors with invented headers one bucket, unless proxies are counted", () => {
    vi.stubEnv("TRUSTED_PROXIES", undefined);
    vi.stubEnv("VERCEL", undefined);
    const keys = Array.from({ length: 11 }, (_, i) =>
      ipKey(clientAddress(headersOf(`203.0.113.${i}`))),
    );
    expect(new Set(keys)).toEqual(new Set(["0.0.0.0"]));
  });

  it.each([
    [{ TRUSTED_PROXIES: "2" }, "198.51.100.7"],
    [{ TRUSTED_PROXIES: "0", VERCEL: "1" }, "0.0.0.0"],
    [{ TRUSTED_PROXIES: " ", VERCEL: "1" }, "10.0.0.2"],
    [{ VERCEL: "1" }, "10.0.0.2"],
  ])("counts the proxies that %j says", (env, address) => {
    for (const name of ["TRUSTED_PROXIES", "VERCEL"]) {
      vi.stubEnv(name, (env as Record<string, string>)[name]);
    }
    expect(clientAddress(headersOf(CLAIMED))).toBe(address);
  });

  it.each(["-1", "1.5", "one"])("refuses TRUSTED_PROXIES=%s", (value) => {
    vi.stubEnv("TRUSTED_PROXIES", value);
    expect(() => clientAddress(headersOf())).toThrow(RateLimitConfigError);
    expect(() => clientAddress(headersOf())).toThrow(`TRUSTED_PROXIES must be a whole number`);
  });

  it("refuses proxies that are no count, and options that it does not know", () => {
    expect(() => clientAddress(headersOf(), { proxies: -1 })).toThrow("proxies must be a whole");
    expect(() => clientAddress(headersOf(), { proxy: 1 } as never)).toThrow("clientAddress()");
  });

  it("says once in production that all visitors share a bucket", async () => {
    vi.stubEnv("NODE_ENV", "production");
    vi.stubEnv("TRUSTED_PROXIES", undefined);
    vi.stubEnv("VERCEL", undefined);
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    vi.resetModules();
    const fresh = await import("../../../server/http/client-address.js");
    fresh.clientAddress(headersOf());
    fresh.clientAddress(headersOf());
    expect(warn.mock.calls).toEqual([[expect.stringContaining("TRUSTED_PROXIES")]]);
  });
});
