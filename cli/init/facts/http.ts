/** What an application without tRPC is: its server, its page, and the call that a limit is shown with. */
import { type Action, actionsOf } from "./action.js";
import { type Host, hostOf } from "./host.js";
import { sourceWith } from "./member.js";
import { type Page, pageOf } from "./page.js";
import type { Project } from "./project.js";

export interface Http {
  /** `undefined` for a server whose routes have no known place. */
  host: Host | undefined;
  /** `undefined` without React in a browser, and for several pages. */
  page: Page | undefined;
  /** The file that serves the limits already. */
  present: string | undefined;
  /** What can be wired: server and page are known, and the page reaches the server by a path. */
  wired: { host: Host; page: Page & { root: string } } | undefined;
  /** A call of the page for examples. */
  action: Action | undefined;
  /** Whether the call is the only one that has one route and one button, so that both can be edited. */
  isSure: boolean;
}

export async function readHttp(project: Project): Promise<Http> {
  const host = await hostOf(project);
  const page = await pageOf(project, host);
  const actions = host && page ? actionsOf(project, host, page) : [];
  const sure = actions.filter(({ hasButton }) => hasButton);
  const root = page?.root;
  return {
    host,
    page,
    present: sourceWith(project.api, /\bcreateRateLimitHandler\s*\(/),
    wired:
      host && page?.isSameOrigin && root !== undefined
        ? { host, page: { ...page, root } }
        : undefined,
    action: sure[0] ?? actions[0],
    isSure: sure.length === 1,
  };
}
