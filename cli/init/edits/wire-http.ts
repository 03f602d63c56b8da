/** Wires an application without tRPC: the route of the limits, the page, and the one call that is sure. */
import { inStyle } from "../code/code-style.js";
import { importText } from "../code/imports.js";
import type { Draft } from "../draft.js";
import type { Application } from "../facts/application.js";
import type { Host } from "../facts/host.js";
import type { Http } from "../facts/http.js";
import { hooksFolderOf, type Page } from "../facts/page.js";
import { specifierOfFile } from "../facts/specifiers.js";
import { handlerFileOf, limitsHandlerText } from "./limits-handler.js";
import { buttonLines, editButton, editRoot, hooksText, rootLines } from "./page.js";
import { editMount, editRoute, mountText, routeFileText, routeLines } from "./route.js";
import { PROXIES } from "./wire-server.js";

const EXISTS = "there is a file of this name already; put these lines into another one";

export async function wireHttp(draft: Draft, app: Application): Promise<void> {
  const { http } = app;
  if (http?.wired === undefined) return;
  const { host, page } = http.wired;
  if (http.present !== undefined) draft.seen(http.present);
  else await wireHost(draft, app, host);
  const hooks = hooksFileOf(http, page);
  if (page.present !== undefined) draft.seen(page.present);
  else await wirePage(draft, app, { host, page, hooks });
  if (wiresAction(app)) await wireAction(draft, app, { host, page, hooks });
}

/** Whether the plan has the limit of a route, and the button that shows it. */
export const wiresAction = ({ http, limits }: Application): boolean =>
  http?.wired !== undefined &&
  http.isSure &&
  http.present === undefined &&
  http.page?.present === undefined &&
  limits.isNew;

export const hooksFileOf = ({ action }: Pick<Http, "action">, page: Page): string => {
  const folder = hooksFolderOf(page, action?.component);
  const name = `rate-limit.${page.member.extension === "ts" ? "ts" : "js"}`;
  return folder === "." ? name : `${folder}/${name}`;
};

/** Creates a file on which the steps after it depend. */
async function createFirst(draft: Draft, file: string, text: string): Promise<void> {
  if (!(await draft.create(file, text, EXISTS))) draft.stop(`it comes after ${file}`);
}

async function wireHost(draft: Draft, { project, limits }: Application, host: Host): Promise<void> {
  const handler = handlerFileOf(limits.file);
  const text = limitsHandlerText(project, host, limits.file);
  if (text.includes("clientAddress(")) draft.note(PROXIES);
  await createFirst(draft, handler, text);
  const from = specifierOfFile(project, host.file, handler);
  if (!("app" in host)) {
    return createFirst(draft, host.file, inStyle(routeFileText(host, from), project.api.style));
  }
  await draft.need({
    file: host.file,
    edit: (code) => editMount(code, host, from),
    lines: `${importText(from, ["limitsHandler"])}\n\n${mountText(host)}`,
  });
}

interface Wired {
  host: Host;
  page: Page & { root: string };
  hooks: string;
}

async function wirePage(
  draft: Draft,
  { project, limits }: Application,
  { host, page, hooks }: Wired,
): Promise<void> {
  const text = hooksText({
    page,
    url: host.url,
    limits: specifierOfFile(project, hooks, limits.file),
    isNext: host.kind === "next",
  });
  await createFirst(draft, hooks, inStyle(text, page.member.style));
  const from = specifierOfFile(project, page.root, hooks);
  await draft.need({
    file: page.root,
    edit: (code) => editRoot(code, from),
    lines: rootLines(from),
  });
}

/** The limit of a route, and then the button that shows it. */
async function wireAction(
  draft: Draft,
  { project, limits, http }: Application,
  { host, hooks }: Wired,
): Promise<void> {
  const { route, component, target } = http!.action!;
  const modules = {
    handler: specifierOfFile(project, route, handlerFileOf(limits.file)),
    limits: specifierOfFile(project, route, limits.file),
  };
  const from = specifierOfFile(project, component, hooks);
  await draft.need({
    file: route,
    edit: (code) => editRoute(code, host, target, modules),
    lines: routeLines(host, target, modules),
  });
  await draft.edit({
    file: component,
    edit: (code) => editButton(code, target, from),
    lines: buttonLines(from),
  });
}
