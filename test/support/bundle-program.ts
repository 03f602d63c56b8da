/**
 * Bundles a program that tests start several times. Node.js then needs a third of the time that it
 * needs with a loader that compiles each of its modules.
 */
import { randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin, type Rolldown } from "vite";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Inside of the repository, so that the program finds its packages. */
const FOLDER = join(ROOT, "test/support/.tmp");

/** The bundled modules still find the files beside their sources. */
const ownUrls: Plugin = {
  name: "own-urls",
  transform: (code, id) =>
    code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id.split("?")[0]!).href)),
};

const bundles = new Map<string, Promise<string>>();

/** @returns the path of the bundle. A test process makes it once. */
export function bundleProgram(program: URL): Promise<string> {
  const file = fileURLToPath(program);
  const bundle = bundles.get(file) ?? write(file);
  bundles.set(file, bundle);
  return bundle;
}

async function write(file: string): Promise<string> {
  const built = (await build({
    root: ROOT,
    configFile: false,
    logLevel: "warn",
    plugins: [ownUrls],
    build: {
      ssr: file,
      write: false,
      target: "node20.19",
      minify: false,
      rolldownOptions: { output: { codeSplitting: false } },
    },
  })) as Rolldown.RolldownOutput;
  await mkdir(FOLDER, { recursive: true });
  const path = join(FOLDER, `${basename(file, ".ts")}.js`);
  // Another process may write or start the bundle at the same time, so write another file and rename it.
  const unfinished = `${path}.${randomUUID()}`;
  await writeFile(unfinished, built.output[0].code);
  await rename(unfinished, path);
  return path;
}
