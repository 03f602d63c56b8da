/** The addresses of the documentation, as the demo's parts link to it on the site. */
import { expect, it } from "vitest";
import { sourceOf } from "../../../site/app/code.js";

it.each([
  ["docs/README.md", "/docs/"],
  ["docs/guarantees.md", "/docs/guarantees"],
  ["docs/guarantees.md#exact", "/docs/guarantees#exact"],
  // Without a repository, a file that is no page has no address.
  ["example-app", undefined],
])("of %s is %s", (path, address) => {
  expect(sourceOf(path)).toBe(address);
});
