// @vitest-environment jsdom
import { render } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import type * as Countdown from "../../../client/countdown/index.js";

let RateLimitCountdown: (typeof Countdown)["RateLimitCountdown"];
const warn = vi.spyOn(console, "warn").mockImplementation(() => {});

// The warning is said once for each page, so each test needs the modules of a new page.
beforeEach(async () => {
  vi.resetModules();
  warn.mockClear();
  ({ RateLimitCountdown } = await import("../../../client/countdown/index.js"));
});

const soon = () => Date.now() + 60_000;

it("warns once in development of a locale without labels, which would mix two languages", () => {
  render(<RateLimitCountdown retryAt={soon()} locale="de" />);
  render(<RateLimitCountdown retryAt={soon()} locale="fr" />);
  expect(warn.mock.calls).toEqual([
    [
      expect.stringMatching(
        /^RateLimitCountdown has the locale "de" without labels, .* labels, too\.$/,
      ),
    ],
  ]);
});

it.each([
  ["there are labels", { locale: "de", labels: { never: "nie" } }],
  ["the language is English", { locale: "en-GB" }],
  ["there is no locale", {}],
  ["all texts are its own", { locale: "de", children: () => "bald", announcement: () => "" }],
])("does not warn where %s", (_, props) => {
  render(<RateLimitCountdown retryAt={soon()} {...props} />);
  expect(warn).not.toHaveBeenCalled();
});

it("does not warn in production", () => {
  vi.stubEnv("NODE_ENV", "production");
  render(<RateLimitCountdown retryAt={soon()} locale="de" />);
  expect(warn).not.toHaveBeenCalled();
});
