/** The code that the playground shows: it runs, and gives exactly the chosen limit. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { format } from "prettier";
import type { RateLimiter } from "trpc-rate-limit/server";
import { expect, it, onTestFinished } from "vitest";
import { configOfChoice, type PlaygroundChoice } from "../../../example-app/playground/choice.js";
import { codeOfLimit } from "../../../example-app/playground/code-of-limit.js";
import { PRESETS } from "../../../example-app/playground/preset-list.js";

const FOLDER = fileURLToPath(new URL("../../support/.tmp/", import.meta.url));
const CHOICE = PRESETS[0]!.choice;

it.each<[string, PlaygroundChoice]>([
  ...PRESETS.map(({ name, choice }): [string, PlaygroundChoice] => [name, choice]),
  ["two minutes", { ...CHOICE, period: 120_000 }],
  ["a minute and a half", { ...CHOICE, period: 90_000 }],
  ["no whole second", { ...CHOICE, period: 12_345 }],
  ["large and odd numbers", { ...CHOICE, rate: 9999.25, capacity: 10_000, shards: 16 }],
  ["a capacity that is the rate", { ...CHOICE, capacity: 30, blockFor: 600_000 }],
])("runs and gives the limit: %s", async (_name, choice) => {
  const config = configOfChoice(choice);
  const code = codeOfLimit(config);
  const file = `${FOLDER}${crypto.randomUUID()}.ts`;
  onTestFinished(() => rm(file));
  await mkdir(FOLDER, { recursive: true });
  await writeFile(file, code);
  const { limiter } = (await import(/* @vite-ignore */ file)) as {
    limiter: RateLimiter<{ playground: typeof config }>;
  };
  const { capacity = choice.rate, shards = 1, ...given } = limiter.limits.playground;
  expect({ ...given, capacity, shards }).toEqual(config);
  // In the style of the documentation.
  expect(await format(code, { parser: "typescript", printWidth: 100 })).toBe(code);
});

it("names durations, groups digits, and imports no more than it uses", () => {
  const code = codeOfLimit(
    configOfChoice({ ...CHOICE, rate: 10_000, period: 120_000, capacity: 50, blockFor: 1000 }),
  );
  expect(code)
    .toBe(`import { createRateLimiter, memoryStore, MINUTE, SECOND } from "trpc-rate-limit/server";

export const limiter = createRateLimiter({
  store: memoryStore(), // or prismaStore(prisma)
  limits: {
    playground: {
      kind: "token bucket",
      rate: 10_000,
      period: 2 * MINUTE,
      capacity: 50,
      blockFor: SECOND,
      maxReserved: 50,
    },
  },
});
`);
  expect(codeOfLimit(configOfChoice({ ...CHOICE, period: 1500 }))).toContain(
    'import { createRateLimiter, memoryStore } from "trpc-rate-limit/server";',
  );
});
