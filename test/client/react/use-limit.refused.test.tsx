// @vitest-environment jsdom
import { focusManager } from "@tanstack/react-query";
import { act, cleanup } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { startPage, textOf, useRateLimit } from "../../support/page.js";
import { settled, soon } from "../../support/soon.js";

afterEach(() => {
  cleanup();
  focusManager.setFocused(undefined);
  vi.restoreAllMocks();
});

function Refused() {
  const { status, connection, error } = useRateLimit("hourly", { key: "secret" });
  return <p data-testid="a">{[status?.ok, connection, error?.message].join()}</p>;
}

it("shows why the server refuses to tell about a limit, and asks again on focus only", async () => {
  const warning = vi.spyOn(console, "warn").mockImplementation(() => {});
  await using page = await startPage();
  page.render(<Refused />);
  await soon(() => expect(textOf("a")).toMatch(/^,polling,This caller may not use the requested/));
  await settled(() => page.server.requests());
  const requests = page.server.requests();
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(page.server.requests()).toBe(requests);
  act(() => focusManager.setFocused(false));
  act(() => focusManager.setFocused(true));
  await soon(() => expect(page.server.requests()).toBe(requests + 1));
  await settled(() => page.server.requests());
  expect(page.server.requests()).toBe(requests + 1);
  expect(warning).toHaveBeenCalledTimes(1);
});
