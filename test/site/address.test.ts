import { expect, it } from "vitest";
import { addressOf } from "../../site/address.js";

const name = "trpc-rate-limit";

it.each([
  "https://github.com/ada/limits",
  "git+https://github.com/ada/limits.git",
  "git@github.com:ada/limits.git",
  "github:ada/limits",
])("takes the repository and the path from %s in package.json", (url) => {
  const address = {
    base: "/limits/",
    repository: "https://github.com/ada/limits",
    origin: "https://ada.github.io",
  };
  expect(addressOf({ name, repository: url }, {})).toEqual(address);
  const env = { GITHUB_REPOSITORY: "a/fork" };
  expect(addressOf({ name, repository: { url } }, env)).toEqual(address);
});

it("takes those of the workflow that runs where package.json has none", () => {
  expect(addressOf({ name }, { GITHUB_REPOSITORY: "ada/limits" })).toEqual({
    base: "/limits/",
    repository: "https://github.com/ada/limits",
    origin: "https://ada.github.io",
  });
});

it("knows no repository otherwise, and takes the package's name for the path", () => {
  expect(addressOf({ name }, {})).toEqual({
    base: "/trpc-rate-limit/",
    repository: undefined,
    origin: undefined,
  });
});

it("has no path on the site of an owner", () => {
  const { base, origin } = addressOf({ name }, { GITHUB_REPOSITORY: "Ada/ada.github.io" });
  expect([base, origin]).toEqual(["/", "https://ada.github.io"]);
});

it("takes another path from SITE_BASE, and refuses what is none", () => {
  expect(addressOf({ name }, { SITE_BASE: "/" }).base).toBe("/");
  expect(() => addressOf({ name }, { SITE_BASE: "limits" })).toThrow(
    'SITE_BASE must begin and end with a slash, got "limits"',
  );
});

it("takes the host from SITE_ORIGIN, and knows none for a path of its own", () => {
  const env = { GITHUB_REPOSITORY: "ada/limits", SITE_BASE: "/" };
  expect(addressOf({ name }, env).origin).toBeUndefined();
  const origin = "https://limits.example";
  expect(addressOf({ name }, { ...env, SITE_ORIGIN: origin }).origin).toBe(origin);
  for (const wrong of ["limits.example", `${origin}/`, `${origin}/docs`, ""]) {
    expect(() => addressOf({ name }, { SITE_ORIGIN: wrong })).toThrow(
      `SITE_ORIGIN must be https://<host> without a path, got "${wrong}"`,
    );
  }
});
