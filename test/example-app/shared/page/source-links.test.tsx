// @vitest-environment jsdom
/** The links below the overview, and the line beside the command that installs the package. */
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { SourceLinks } from "../../../../example-app/shared/page/source-links.js";
import { Unreleased } from "../../../../example-app/shared/page/unreleased.js";

afterEach(() => {
  cleanup();
  vi.unstubAllEnvs();
});

const LINKS = [
  ["Source", "example-app"],
  ["Docs", "docs/README.md"],
] as const;

it("names the files, and says how to open them, where no address is known", () => {
  render(<SourceLinks links={LINKS} />);
  const texts = screen.getAllByRole("listitem").map(({ textContent }) => textContent);
  expect(texts).toEqual(["Open in your clone:", "example-app", "docs/README.md"]);
  expect(screen.queryByRole("link")).toBeNull();
});

it("links to what has an address, and leaves out the others", () => {
  vi.stubEnv("VITE_DOCS", "https://limits.example/docs/");
  render(<SourceLinks links={LINKS} />);
  expect(screen.getByRole("link", { name: "Docs" }).getAttribute("href")).toBe(
    "https://limits.example/docs/",
  );
  expect(screen.getAllByRole("listitem")).toHaveLength(1);
});

it("says that npm does not have the package, until its first release", () => {
  const { rerender } = render(<Unreleased version="0.0.0" />);
  screen.getByText(/^Not on npm yet\./);
  rerender(<Unreleased version="0.1.0" />);
  expect(screen.queryByText(/Not on npm yet/)).toBeNull();
});
