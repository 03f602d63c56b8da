/** Whether a page streams its limits, by what its client sends. */
import { describe, expect, it } from "vitest";
import { Code } from "../../../../cli/init/code/code.js";
import { listIn } from "../../../../cli/init/facts/links.js";
import { liveOf } from "../../../../cli/init/facts/live.js";

function modeOf(settings: string, { more = "", isNative = false, wrap = "" } = {}): string {
  const link = `httpBatchLink({ url, ${settings} })`;
  const element = wrap === "" ? link : wrap.replace("$", link);
  const text = `const client = createTRPCClient<AppRouter>({ links: [${element}] });\n${more}`;
  const code = Code.read("src/client.ts", text)!;
  return liveOf(code, listIn(code)!, isNative).mode;
}

describe("a page streams whose client sends", () => {
  it.each([
    ["no headers", ""],
    [
      "cookies to another origin",
      `fetch: (url, o) => fetch(url, { ...o, credentials: "include" })`,
    ],
    ["a fixed header", `headers: { "x-trpc-source": "react" }`],
    ["a fixed header by a function", `headers: () => ({ "x-trpc-source": "react" })`],
    [
      "a fixed header of Headers",
      `headers: () => { const h = new Headers(); h.set("x-trpc-source", "react"); return h; }`,
    ],
    [
      "a fixed header by assignment",
      `headers() { const h: Record<string, string> = {}; h["x-a"] = "b"; return h; }`,
    ],
  ])("%s", (_, settings) => {
    expect(modeOf(settings)).toBe("stream");
  });

  it("a header in streams, too, by connectionParams", () => {
    const wrap = `splitLink({ condition, true: httpSubscriptionLink({ url, connectionParams }), false: $ })`;
    expect(modeOf("headers: { authorization }", { wrap })).toBe("stream");
    expect(modeOf("headers: { authorization }", { wrap, isNative: true })).toBe("stream");
  });
});

describe("a page polls whose client sends", () => {
  it.each([
    ["a token", "headers: { Authorization: `Bearer ${token}` }"],
    ["a fixed token", `headers: { authorization: "Bearer 1" }`],
    [
      "a header that is added later",
      "async headers() { const h = {}; h.Authorization = await token(); return h; }",
    ],
    [
      "a header of Headers",
      `headers: () => { const h = new Headers(); h.set("x-team", team); return h; }`,
    ],
    ["what another function returns", "headers: () => headersOf(session)"],
    ["what a property has", "headers"],
    ["what it copies", "headers: () => ({ ...extra })"],
    ["a token by its fetch", "fetch: (url, o) => fetch(url, { ...o, headers: { authorization } })"],
  ])("%s", (_, settings) => {
    expect(modeOf(settings)).toBe("poll");
  });

  it("a token by a fetch of its own", () => {
    const more = `async function send(url, o) {\n  return fetch(url, { headers: { Authorization: t } });\n}`;
    expect(modeOf("fetch: send", { more })).toBe("poll");
  });

  it("a token, and that subscribes without it", () => {
    const wrap = `splitLink({ condition, true: httpSubscriptionLink({ url }), false: $ })`;
    expect(modeOf("headers: { authorization }", { wrap })).toBe("poll");
    expect(modeOf("", { wrap })).toBe("stream");
  });

  it("a request of React Native", () => {
    expect(modeOf("", { isNative: true })).toBe("poll");
  });
});
