/**
 * Writes docs/reference: one page per entry point, from the docstrings. Fails if something public
 * has no docstring.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Application, Converter, ReflectionKind } from "typedoc";
import { undocumented } from "./undocumented.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The source of each page, by the page's name: every entry point of package.json with code. */
const { name, exports } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
const ENTRY_POINTS = Object.fromEntries(
  Object.entries(exports)
    .filter(([path, { types }]) => types !== undefined && !path.endsWith(".css"))
    .map(([path, { types }]) => [
      path === "." ? name : path.slice("./".length),
      types.replace(/^\.\/dist\//, "").replace(/\.d\.ts$/, ".ts"),
    ]),
);

for (const problem of await generate(join(ROOT, "docs/reference"))) {
  console.error(problem);
  process.exitCode = 1;
}

/** @returns what is wrong with the docstrings. */
async function generate(folder) {
  const app = await Application.bootstrapWithPlugins({
    plugin: ["typedoc-plugin-markdown"],
    tsconfig: fileURLToPath(new URL("tsconfig.json", import.meta.url)),
    entryPoints: Object.values(ENTRY_POINTS).map((path) => join(ROOT, path)),
    outputs: [{ name: "markdown", path: folder }],
    name: "Reference",
    readme: "none",
    router: "module",
    logLevel: "Warn",
    treatWarningsAsErrors: true,
    validation: { notExported: false, invalidLink: true, notDocumented: false },
    disableSources: true,
    disableGit: true,
    excludeExternals: true,
    sort: ["alphabetical"],
    sortEntryPoints: false,
    groupOrder: ["Functions", "Variables", "Classes", "Interfaces", "Type Aliases", "*"],
    // A default is a sentence, such as "the visitor's own", and not always code.
    jsDocCompatibility: { defaultTag: false },
    hidePageHeader: true,
    hideBreadcrumbs: true,
    // Names that differ in case alone have anchors that GitHub would not give to their headings.
    useHTMLAnchors: true,
    parametersFormat: "table",
    interfacePropertiesFormat: "table",
    classPropertiesFormat: "table",
    typeAliasPropertiesFormat: "table",
    propertyMembersFormat: "table",
    tableColumnSettings: { hideInherited: true, hideOverrides: true, hideModifiers: true },
    pageTitleTemplates: {
      index: "Reference",
      module: (page) => titleOf(page.name),
    },
  });
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => nameModules(project));
  const project = await app.convert();
  if (project === undefined) return ["the sources do not compile"];
  await app.generateOutputs(project);
  const problems = undocumented(project);
  return app.logger.hasErrors() || app.logger.hasWarnings()
    ? [...problems, "typedoc reports the problems above"]
    : problems;
}

/** TypeDoc names a module by its folder. Its users know it by the entry point. */
function nameModules(project) {
  for (const module of project.getChildrenByKind(ReflectionKind.Module)) {
    const source = `${module.name}/index.ts`;
    module.name = Object.keys(ENTRY_POINTS).find((page) => ENTRY_POINTS[page] === source);
  }
}

function titleOf(page) {
  return page === name ? page : `${name}/${page}`;
}
