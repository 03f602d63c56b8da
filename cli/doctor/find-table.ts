/** Finds the table of limits in the application's schema, and the names of the limits. */
import { listFiles, readText } from "../init/files/files.js";
import { findOurModel } from "../init/facts/prisma-schema.js";
import { findOurTable } from "../init/facts/drizzle-schema.js";

/** The table in the application's schema. @default "RateLimit" */
export async function findTable(root: string): Promise<string> {
  return (await findOurModel(root)) ?? (await findOurTable(root)) ?? "RateLimit";
}

/** The names of limits in the sources, as far as the sources show them. */
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
