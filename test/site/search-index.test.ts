import { expect, it } from "vitest";
import { indexOf } from "../../site/search-index.js";

it("has each section once, and for each word the sections that have it", () => {
  const pages = new Map([
    ["docs/limits.md", "# Limits\n\nA bucket.\n\n## Kinds\n\nBuckets and a bucket, a bucket."],
    ["docs/index.md", "# Documentation\n\nSee limits."],
  ]);
  expect(indexOf(pages)).toEqual({
    pages: ["docs/", "docs/limits"],
    sections: [
      [0, "", "Documentation"],
      [1, "", "Limits"],
      [1, "kinds", "Kinds"],
    ],
    words: { bucket: "1 1*", documentation: "0", kind: "2", limit: "0 1", see: "0" },
  });
});
