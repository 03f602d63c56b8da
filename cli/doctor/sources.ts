/** The sources of an application, without its tests. */
import { listFiles, readText } from "../init/files.js";

/** By file. */
export type Sources = ReadonlyMap<string, string>;

const OF_TESTS = /(^|\/)(tests?|__tests__|e2e)\/|\.(test|spec)\.\w+$/;

export async function readSources(root: string): Promise<Sources> {
  const sources = new Map<string, string>();
  for (const file of await listFiles(root, "", /\.[cm]?[jt]sx?$/)) {
    if (!OF_TESTS.test(file)) sources.set(file, (await readText(root, file)) ?? "");
  }
  return sources;
}
