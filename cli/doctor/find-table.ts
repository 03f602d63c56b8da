/** Which table the application's schema has for limits, and the names of its limits. */
import { listFiles, readText } from "../init/files.js";
import { findOurModel } from "../init/prisma-schema.js";
import { findOurTable } from "../init/drizzle-schema.js";

/** As its schema says it. @default "RateLimit" */
export async function findTable(root: string): Promise<string> {
  return (await findOurModel(root)) ?? (await findOurTable(root)) ?? "RateLimit";
}

/** The names of limits in the sources, as far as they can be read there. */
export async function findNames(root: string): Promise<string[]> {
  const names = new Set<string>();
  for (const file of await listFiles(root, "", /\.[cm]?[jt]sx?$/)) {
    const text = await readText(root, file);
    if (!text?.includes("createRateLimiter")) continue;
    for (const [, name] of text.matchAll(/["']?([\w.-]+)["']?\s*:\s*\{\s*kind\s*:/g)) {
      names.add(name!);
    }
  }
  return [...names];
}
