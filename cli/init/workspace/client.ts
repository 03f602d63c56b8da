/** Wires the web applications of a monorepo: the links, the hooks, and their provider. */
import { join } from "node:path";
import { readApplication } from "../application.js";
import { specifierOf } from "../import-style.js";
import {
  CLIENT_LINES,
  editHooks,
  editLinks,
  editProvider,
  exportClient,
  PROVIDER_LINES,
  PROVIDERS,
  SENDING,
} from "./client-edits.js";
import type { Draft } from "./draft.js";
import { type Member, sourceWith, type Workspace } from "./workspace.js";

/** What a component imports, for the next steps. */
export interface WiredClient {
  web: Member;
  links: string;
  hooks: string;
}

export async function planClient(
  draft: Draft,
  { root }: Workspace,
  webs: readonly Member[],
): Promise<WiredClient | undefined> {
  let first: WiredClient | undefined;
  for (const web of webs) {
    const wired = await planWeb(draft, root, web);
    first ??= wired;
  }
  return first;
}

async function planWeb(draft: Draft, root: string, web: Member): Promise<WiredClient | undefined> {
  const present = sourceWith(web, /\bcreateRateLimitReact\b/);
  const links = sourceWith(web, new RegExp(`\\blinks: \\[[\\s\\S]*${SENDING.source}`));
  if (present !== undefined) {
    draft.seen(present);
    return { web, links: links ?? present, hooks: present };
  }
  if (links === undefined) {
    draft.byHand(`the file of the tRPC client in ${web.folder}`, "it was not found", CLIENT_LINES);
    return undefined;
  }
  const hooks = sourceWith(web, /\bcreateTRPCContext<AppRouter>\(/) ?? links;
  const provider = sourceWith(web, new RegExp(`<(${PROVIDERS.join("|")})(?=[\\s>])`));
  const { imports } = await readApplication(join(root, web.folder));
  const inside = (file: string) => file.slice(web.folder.length + 1);
  const specifier = (from: string, to: string) => {
    const text = web.sources.get(from) ?? "";
    // As the file imports the client already, if it does.
    const relative = specifierOf({ ...imports, alias: undefined }, inside(from), inside(to));
    return text.includes(`"${relative}"`) || text.includes(`'${relative}'`)
      ? relative
      : specifierOf(imports, inside(from), inside(to));
  };
  const isReady =
    (await draft.edit({ file: links, edit: editLinks, lines: CLIENT_LINES })) &&
    (await draft.edit({ file: hooks, edit: editHooks, lines: CLIENT_LINES }));
  if (provider === undefined) {
    draft.byHand(`the provider of queries in ${web.folder}`, "it was not found", PROVIDER_LINES);
    return { web, links, hooks };
  }
  const hasClient = /\bconst (?:trpcClient\b|\[\s*trpcClient\b)/.test(
    (await draft.read(provider)) ?? "",
  );
  const options = {
    hooks: hooks === provider ? undefined : specifier(provider, hooks),
    client: hasClient ? undefined : specifier(provider, links),
  };
  if (!isReady) draft.byHand(provider, `it comes after ${links}`, PROVIDER_LINES);
  else {
    if (!hasClient) {
      const lines = "// Export the client:\nexport const trpcClient = …";
      await draft.edit({ file: links, edit: exportClient, lines });
    }
    const edit = (text: string) => editProvider(text, options);
    await draft.edit({ file: provider, edit, lines: PROVIDER_LINES });
  }
  return { web, links, hooks };
}
