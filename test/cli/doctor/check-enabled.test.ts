/** Limiters that the sources switch off, which `doctor` finds without running them. */
import { expect, it } from "vitest";
import { checkEnabled } from "../../../cli/doctor/check-enabled.js";
import { makeFolder } from "../../support/scaffold.js";

const limiter = (options: string) =>
  `import { createRateLimiter } from "trpc-rate-limit/server";\n` +
  `export const limiter = createRateLimiter({ store, limits: {}, ${options} });\n`;

it("warns of limits that are off", async () => {
  await using app = await makeFolder({
    "src/limits.ts": limiter("enabled: false"),
    "src/other.js": limiter("enabled: (false)"),
    "src/on.ts": limiter("enabled: true"),
  });
  expect(await checkEnabled(app.root)).toMatchObject([
    {
      check: "enabled",
      level: "warning",
      message: "the limits are switched off (enabled: false), in src/limits.ts, src/other.js",
    },
  ]);
});

it.each([
  ["a function", "enabled: () => flags.limits"],
  ["a method", "enabled() { return true; }"],
  ["a variable", "enabled"],
  ["the environment", 'enabled: process.env.RATE_LIMITS !== "off"'],
])("says that limits can be switched off by %s", async (_, options) => {
  await using app = await makeFolder({ "limits.ts": limiter(options) });
  expect(await checkEnabled(app.root)).toEqual([
    {
      check: "enabled",
      level: "ok",
      message: "the limits can be switched off by the option enabled, in limits.ts",
    },
  ]);
});

it.each([
  ["no such option", limiter("timeout: 100")],
  [
    "the option of something else",
    `${limiter("timeout: 1")}betterAuth({ rateLimit: { enabled: false } });`,
  ],
  ["it in a comment", limiter("// enabled: false\n")],
  ["no code", "createRateLimiter({ enabled: false"],
])("finds nothing in a file with %s", async (_, text) => {
  await using app = await makeFolder({
    "limits.ts": text,
    "limits.test.ts": limiter("enabled: false"),
  });
  expect(await checkEnabled(app.root)).toEqual([]);
});
