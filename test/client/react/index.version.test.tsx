// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react";
import { version } from "react";
import { version as domVersion } from "react-dom";
import { version as serverVersion } from "react-dom/server";
import { afterEach, expect, it } from "vitest";

afterEach(cleanup);

it("runs these tests on the React that the project names, in all its parts", () => {
  const wanted = expect.stringMatching(`^${process.env["REACT_VERSION"]}\\.`);
  expect({ version, domVersion, serverVersion }).toEqual({
    version: wanted,
    domVersion: wanted,
    serverVersion: wanted,
  });
  const { container } = render(<p>{version}</p>);
  expect(container.textContent).toBe(version);
});
