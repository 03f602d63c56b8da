/** The sources of an application, without its tests and without comments. */
import { listFiles, readText } from "../init/files/files.js";

/** The text of each source, by its file. */
export type Sources = ReadonlyMap<string, string>;

const OF_TESTS = /(^|\/)(tests?|__tests__|e2e)\/|\.(test|spec)\.\w+$/;
/**
 * A comment that begins a line. A comment behind code stays: it could be a part of a text, such as a
 * glob.
 */
const COMMENT = /^[ \t]*(?:\/\/.*|\/\*[^]*?\*\/)/gm;

export async function readSources(root: string): Promise<Sources> {
  const sources = new Map<string, string>();
  for (const file of await listFiles(root, "", /\.[cm]?[jt]sx?$/)) {
    if (OF_TESTS.test(file)) continue;
    sources.set(file, ((await readText(root, file)) ?? "").replace(COMMENT, ""));
  }
  return sources;
}
