/** `npx vitest run --project package test/site/registry --update` writes the published file anew. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { REGISTRY_ITEM, registryItem } from "../../../site/registry/registry-item.js";
import { ROOT } from "../../docs/pages.js";

it("is published as its sources are", async () => {
  await expect(await registryItem()).toMatchFileSnapshot(join(ROOT, REGISTRY_ITEM));
});

it("imports what an application of shadcn has, and nothing of this repository", async () => {
  const { files, registryDependencies } = JSON.parse(await registryItem()) as {
    files: { path: string; content: string }[];
    registryDependencies: string[];
  };
  expect(registryDependencies).toEqual(["button"]);
  const imported = files.flatMap(({ content }) =>
    [...content.matchAll(/ from "([^"]+)";/g)].map(([, specifier]) => specifier),
  );
  expect(imported).toEqual([
    "react",
    "@/lib/rate-limits",
    "@/components/ui/button",
    "trpc-rate-limit/fetch/react",
  ]);
});
