import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { walkOfCall } from "../support/walk.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

it("names the files of a warm call in the order in which it enters them", async () => {
  const steps = await walkOfCall();
  const files = [...new Set(steps.map(({ file }) => file))];
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  const onTheWay = files.filter((file) =>
    /(\/limit|\/plain-path|\/pg-driver|core\/decide)\.ts$/.test(file),
  );
  expect(onTheWay).toEqual([
    "server/limiter/verbs/limit.ts",
    "server/store/plain-path.ts",
    "core/decide.ts",
    "server/store/drivers/pg/pg-driver.ts",
  ]);
  // A call on one row needs no draft, no resolved limit and no look at the table of the database.
  const names = steps.map(({ name }) => name);
  expect(names.filter((name) => ["Draft", "ClaimDecision", "resolveLimit"].includes(name))).toEqual(
    [],
  );
  expect(
    steps.filter(({ file, name }) => file.endsWith("/limit.ts") && name === "limit"),
  ).toHaveLength(1);
}, 60_000);
