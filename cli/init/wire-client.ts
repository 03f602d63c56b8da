/** Wires the web applications: the links, the hooks, and their provider. */
import {
  clientIn,
  clientLines,
  editHooks,
  editLinks,
  exportClient,
  linksIn,
  routerTypeIn,
} from "./edits/client.js";
import { editProvider, providerIn, providerLines } from "./edits/provider.js";
import type { Draft } from "./draft.js";
import { findInCode, type Member, sourceWith, specifierInside } from "./member.js";
import type { Project } from "./project.js";

/** The imports of a component, for the next steps. */
export interface WiredClient {
  web: Member;
  links: string;
  hooks: string;
}

/** The applications with a client of tRPC that runs in a browser. */
export function websOf({ users, api, trpcFile }: Project): Member[] {
  if (trpcFile === undefined) return [];
  const isAlone = users.length === 1 && users[0] === api;
  return users.filter(
    (user) =>
      user.packages.has("@trpc/client") &&
      (user.packages.has("react") || (isAlone && linksOf(user) !== undefined)),
  );
}

export async function wireClient(draft: Draft, project: Project): Promise<WiredClient | undefined> {
  const webs = websOf(project);
  if (project.trpcFile !== undefined && webs.length === 0 && project.members.length === 1) {
    const lines = `${clientLines(undefined)}\n\n${providerLines()}`;
    const isThere = sourceWith(project.api, /\bcreateRateLimitReact\b/) !== undefined;
    const hasMark = sourceWith(project.api, /\bcreateRateLimitTRPC\(/) !== undefined;
    if (!isThere && !hasMark) {
      draft.byHand("the file of your tRPC client", "it was not found", lines);
    }
  }
  let first: WiredClient | undefined;
  for (const web of webs) {
    const wired = await wireWeb(draft, web);
    first ??= wired;
  }
  return first;
}

export const isNative = ({ packages }: Member): boolean =>
  packages.has("react-native") || packages.has("expo");

const linksOf = (web: Member) => findInCode(web, /\blinks\b/, linksIn);

async function wireWeb(draft: Draft, web: Member): Promise<WiredClient | undefined> {
  const present = sourceWith(web, /\bcreateRateLimitReact\b/);
  const links = linksOf(web);
  if (present !== undefined) {
    draft.seen(present);
    return { web, links: links?.file ?? present, hooks: present };
  }
  if (links === undefined) {
    draft.byHand(
      whereIn("the file of the tRPC client", web),
      "it was not found",
      clientLines(undefined),
    );
    return undefined;
  }
  const lines = clientLines(links.found, routerTypeIn(links.code));
  const hooks = hooksFile(web, links.file);
  const client = clientIn(links.code);
  const polls = isNative(web);
  if (polls) draft.note(POLLS);
  const isReady =
    (await draft.edit({ file: links.file, edit: (code) => editLinks(code, polls), lines })) &&
    (await draft.edit({ file: hooks, edit: (code) => editHooks(code, polls), lines }));
  await wireProvider({ draft, web, links: links.file, hooks, client, isReady });
  return { web, links: links.file, hooks };
}

const POLLS =
  "React Native has no EventSource, so its pages poll; see docs/react.md of trpc-rate-limit.";

/** The file that makes the hooks of tRPC, or else the file of the links. */
function hooksFile(web: Member, links: string): string {
  const made = findInCode(web, /\bcreateTRPC(Context|React)\b/, (code) =>
    routerTypeIn(code) === undefined ? undefined : true,
  );
  return made?.file ?? links;
}

interface ProviderPlan {
  draft: Draft;
  web: Member;
  links: string;
  hooks: string;
  client: { name: string; isTopLevel: boolean } | undefined;
  isReady: boolean;
}

async function wireProvider({ draft, web, links, hooks, client, isReady }: ProviderPlan) {
  const name = client?.name ?? "trpcClient";
  const lines = providerLines(name);
  const provider = findInCode(web, /Provider\b/, (code) => providerIn(code) && true);
  if (provider === undefined) {
    draft.byHand(whereIn("the provider of queries", web), "it was not found", lines);
    return;
  }
  const { file } = provider;
  if (!isReady) {
    draft.byHand(file, `it comes after ${links}`, lines);
    return;
  }
  const isElsewhere = file !== links;
  if (isElsewhere && client?.isTopLevel === true) {
    await draft.edit({
      file: links,
      edit: exportClient,
      lines: `// Export the client:\nexport const ${name} = …`,
    });
  }
  await draft.edit({
    file,
    edit: (code) =>
      editProvider(code, {
        hooks: hooks === file ? undefined : specifierInside(web, file, hooks),
        client: name,
        polls: isNative(web),
        clientFrom:
          isElsewhere && client?.isTopLevel === true
            ? specifierInside(web, file, links)
            : undefined,
      }),
    lines,
  });
}

function whereIn(what: string, { folder }: Member): string {
  return folder === "" ? what : `${what} in ${folder}`;
}
