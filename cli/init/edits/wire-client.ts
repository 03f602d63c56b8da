/** Wires the web applications: the links, the hooks, and their provider. */
import type { CodeStep, Draft } from "../draft.js";
import { sourceWith } from "../facts/member.js";
import type { Project } from "../facts/project.js";
import type { Web } from "../facts/web.js";
import { editHooks, editLinks, exportClient, hooksLines, linksLines } from "./client.js";
import { editProvider, importsClient, providerLines } from "./provider.js";

const NOT_FOUND = "it was not found";

export async function wireClient(
  draft: Draft,
  { api }: Project,
  webs: readonly Web[],
): Promise<void> {
  const isWired = sourceWith(api, /\bcreateRateLimitTRPC\(/) !== undefined;
  for (const web of webs) {
    if (web.present !== undefined) draft.seen(web.present);
    else if (web.links !== undefined) await wireWeb(draft, web, web.links.file);
    else if (!isWired) {
      const lines = importsFirst(hooksLines(web), linksLines(web), providerLines(web));
      draft.byHand(whereIn("the file of your tRPC client", web), NOT_FOUND, lines);
    }
  }
}

async function wireWeb(draft: Draft, web: Web, links: string): Promise<void> {
  const { hooks = links, live, provider } = web;
  if (live.mode === "poll") draft.note(live.why);
  let failed: string | undefined;
  const step = async ({ file, lines, edit }: CodeStep) => {
    if (failed !== undefined) draft.byHand(file, `it comes after ${failed}`, lines);
    else if (!(await draft.edit({ file, lines, edit }))) failed = "the lines before";
  };
  const isOne = hooks === links;
  const isExported = importsClient(web);
  await step({
    file: links,
    edit: (code) =>
      editLinks(code, web) &&
      (!isOne || editHooks(code, web)) &&
      (!isExported || exportClient(code, web)),
    lines: importsFirst(
      ...(isOne ? [hooksLines(web)] : []),
      linksLines(web),
      ...(isExported ? [`// Export ${web.client!.code}, for the provider.`] : []),
    ),
  });
  if (!isOne) {
    await step({ file: hooks, edit: (code) => editHooks(code, web), lines: hooksLines(web) });
  }
  const lines = providerLines(web);
  if (provider === undefined) {
    draft.byHand(whereIn("the provider of queries", web), NOT_FOUND, lines);
  } else {
    await step({ file: provider.file, edit: (code) => editProvider(code, web), lines });
  }
}

function importsFirst(...parts: string[]): string {
  const text = parts.map((part) => part.trimEnd()).join("\n\n");
  const imports = text.match(/^import [^;]*;$/gm) ?? [];
  return `${imports.join("\n")}\n\n${text.replaceAll(/^import [^;]*;\n+/gm, "")}`;
}

const whereIn = (what: string, { member: { folder } }: Web) =>
  folder === "" ? what : `${what} in ${folder}`;
