/**
 * Changes a file of a scaffold. A text that does not occur exactly once is an error: the scaffold has
 * changed.
 */
import { readFile, writeFile } from "node:fs/promises";

export type Replacement = readonly [from: string | RegExp, to: string];

export async function editFile(path: string, ...replacements: Replacement[]): Promise<void> {
  let text = await readFile(path, "utf8");
  for (const [from, to] of replacements) {
    const parts = text.split(from);
    if (parts.length !== 2) {
      throw new Error(`${path} has ${String(from)} ${parts.length - 1} times, not once`);
    }
    text = parts.join(to);
  }
  await writeFile(path, text);
}
