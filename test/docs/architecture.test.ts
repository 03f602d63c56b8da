import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { walkOfCall } from "../support/walk.js";
import { ROOT } from "./pages.js";

it("names every file that a warm call goes through", async () => {
  const page = await readFile(join(ROOT, "docs/architecture.md"), "utf8");
  const section = page.split("## A call, step by step\n")[1]!.split("\n## ")[0]!;
  const steps = section.split("\n").filter((line) => line.startsWith("- "));
  const named = steps.flatMap((step) =>
    [...step.matchAll(/`(\S+\.ts)`/g)].map(([, file]) => file!),
  );
  const walked = [...new Set((await walkOfCall()).map(({ file }) => file))];
  expect(named.toSorted()).toEqual(walked.toSorted());
}, 60_000);
