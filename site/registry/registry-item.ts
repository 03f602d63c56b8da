/** The button as an item for the command of shadcn, made of the files beside this one. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { format } from "prettier";

/** Where the item is published, from the root of the repository. */
export const REGISTRY_ITEM = "site/app/public/registry/rate-limit-button.json";

const IMPORTS = {
  "./lib/rate-limits.js": "@/lib/rate-limits",
  "./ui/button.js": "@/components/ui/button",
};

async function contentOf(file: string): Promise<string> {
  const text = await readFile(fileURLToPath(new URL(file, import.meta.url)), "utf8");
  return Object.entries(IMPORTS).reduce(
    (all, [own, theirs]) => all.replace(`"${own}"`, `"${theirs}"`),
    text,
  );
}

/** @returns the JSON of the item. */
export async function registryItem(): Promise<string> {
  const item = {
    $schema: "https://ui.shadcn.com/schema/registry-item.json",
    name: "rate-limit-button",
    type: "registry:ui",
    title: "Rate limit button",
    description:
      "A button that fills until its rate limit lets a call pass, and says how long that takes.",
    dependencies: ["trpc-rate-limit"],
    registryDependencies: ["button"],
    files: [
      {
        path: "ui/rate-limit-button.tsx",
        type: "registry:ui",
        content: await contentOf("rate-limit-button.tsx"),
      },
      {
        path: "lib/rate-limits.ts",
        type: "registry:lib",
        content: await contentOf("lib/rate-limits.ts"),
      },
    ],
  };
  return format(JSON.stringify(item), { parser: "json", printWidth: 100 });
}
