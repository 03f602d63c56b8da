/** The file of the limits, whether it is there or not. */
import { isFolder } from "../files/files.js";
import { inFolder, insideOf, sourceWith } from "./member.js";
import type { Project } from "./project.js";

/** The file that has the limiter already. */
export function presentLimits({ api }: Project): string | undefined {
  return sourceWith(api, /\bcreateRateLimiter\(/);
}

/** The file for the limits: beside tRPC, or in a folder that seems to have the server's code. */
export async function limitsFileOf({ root, api, trpcFile }: Project): Promise<string> {
  const name = `limits.${api.extension}`;
  if (trpcFile !== undefined) return trpcFile.replace(/[^/]*$/, name);
  for (const folder of ["src/server", "server"]) {
    if (await isFolder(root, inFolder(api, folder))) return inFolder(api, `${folder}/${name}`);
  }
  const isFlat = [...api.sources.keys()].some((file) => /^src\/[^/]+$/.test(insideOf(api, file)));
  // In an application of Next, src has files of Next, such as src/middleware.ts.
  if (isFlat && !api.packages.has("next")) return inFolder(api, `src/${name}`);
  const hasSrc = await isFolder(root, inFolder(api, "src"));
  return inFolder(api, hasSrc ? `src/server/${name}` : `server/${name}`);
}
