/** The sources of an application, without its tests and without comments. */
import { listFiles, readText } from "../init/files.js";

/** By file. */
export type Sources = ReadonlyMap<string, string>;

const OF_TESTS = /(^|\/)(tests?|__tests__|e2e)\/|\.(test|spec)\.\w+$/;
/** With lines of its own. A comment behind code could be a part of a text, such as a glob. */
const COMMENT = /^[ \t]*(?:\/\/.*|\/\*[^]*?\*\/)/gm;

export async function readSources(root: string): Promise<Sources> {
  const sources = new Map<string, string>();
  for (const file of await listFiles(root, "", /\.[cm]?[jt]sx?$/)) {
    if (OF_TESTS.test(file)) continue;
    sources.set(file, ((await readText(root, file)) ?? "").replace(COMMENT, ""));
  }
  return sources;
}
