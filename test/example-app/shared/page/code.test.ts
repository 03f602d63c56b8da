/** Where the demo's links to the documentation and the sources lead. */
import { afterEach, expect, it, vi } from "vitest";
import { factsOf } from "../../../../example-app/package-facts.js";
import { sourceOf } from "../../../../example-app/shared/page/code.js";

afterEach(() => vi.unstubAllEnvs());

const GITHUB = "git+https://github.com/ada/limits.git";
const AT_GITHUB = "https://github.com/ada/limits/blob/HEAD";

it.each([
  // The pages of the site, where there is one.
  [
    { homepage: "https://limits.example/", repository: GITHUB },
    "docs/README.md",
    "https://limits.example/docs/",
  ],
  [
    { homepage: "https://ada.github.io/limits" },
    "docs/guarantees.md#exact",
    "https://ada.github.io/limits/docs/guarantees#exact",
  ],
  [
    { homepage: "https://limits.example" },
    "docs/guides/chat.md",
    "https://limits.example/docs/guides/chat",
  ],
  [
    { homepage: "https://limits.example", repository: GITHUB },
    "example-app/chat",
    `${AT_GITHUB}/example-app/chat`,
  ],
  [
    { homepage: "https://github.com/ada/limits#readme", repository: { url: GITHUB } },
    "docs/README.md",
    `${AT_GITHUB}/docs/README.md`,
  ],
  [{ repository: GITHUB }, "docs/performance.md", `${AT_GITHUB}/docs/performance.md`],
  // No link to nowhere.
  [{}, "docs/README.md", undefined],
  [{ homepage: "https://limits.example" }, "example-app", undefined],
])("with %o, %s is at %s", (packageJson, path, address) => {
  const { repository, docs } = factsOf({ version: "0.0.0", ...packageJson });
  vi.stubEnv("VITE_REPOSITORY", repository);
  vi.stubEnv("VITE_DOCS", docs);
  expect(sourceOf(path)).toBe(address);
});
