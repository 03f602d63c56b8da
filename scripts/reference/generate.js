/**
 * Writes docs/reference from the docstrings: a page for each function, class, hook and component, and
 * pages of types by subject. Fails if a public declaration has no docstring, no example or no page.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Application, Converter, ReflectionKind } from "typedoc";
import { ENTRY_POINTS } from "../entry-points.ts";
import { pagesOf } from "./pages.js";
import { Reference } from "./reference.js";
import { render } from "./render.js";
import { Sources } from "./sources.js";
import { undocumented } from "./undocumented.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

for (const problem of await generate(join(ROOT, "docs/reference"))) {
  console.error(problem);
  process.exitCode = 1;
}

/** @returns the problems of the docstrings and of the layout of the pages. */
async function generate(folder) {
  const app = await Application.bootstrap({
    tsconfig: fileURLToPath(new URL("tsconfig.json", import.meta.url)),
    entryPoints: ENTRY_POINTS.map(({ source }) => join(ROOT, source)),
    logLevel: "Warn",
    treatWarningsAsErrors: true,
    validation: { notExported: false, invalidLink: true, notDocumented: false },
    disableSources: true,
    excludeExternals: true,
    sort: ["source-order"],
    sortEntryPoints: false,
    // A default is a sentence, such as "the visitor's own", and not always code.
    jsDocCompatibility: { defaultTag: false },
  });
  const sources = new Sources(app.converter);
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => nameModules(project));
  const project = await app.convert();
  if (project === undefined) return ["the sources do not compile"];
  app.validate(project);
  const modules = project.getChildrenByKind(ReflectionKind.Module);
  const declarations = modules.flatMap(({ children }) => children);
  const own = declarations.filter((one) => !one.isReference());
  const exported = byName(own);
  const { pages, problems } = pagesOf(exported, sources);
  const texts = await render(new Reference(exported, pages, sources), modules);
  await rm(folder, { recursive: true, force: true });
  for (const [file, text] of texts) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  problems.push(...undocumented(own, pages));
  return app.logger.hasErrors() || app.logger.hasWarnings()
    ? [...problems, "typedoc reports the problems above"]
    : problems;
}

/**
 * The declarations by name, and by entry point and name: `fetch.createRateLimitObserver`. Of several with
 * one name, the first has the name alone.
 */
function byName(declarations) {
  const all = declarations.map((one) => [`${one.parent.name}.${one.name}`, one]);
  const first = declarations.toReversed().map((one) => [one.name, one]);
  return new Map([...first, ...all]);
}

/** Names the modules by their entry points, as users know them. TypeDoc names a module by its folder. */
function nameModules(project) {
  for (const module of project.getChildrenByKind(ReflectionKind.Module)) {
    const file = `${module.name}/index.ts`;
    module.name = ENTRY_POINTS.find(({ source }) => source === file).name;
  }
}
