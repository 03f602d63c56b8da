/**
 * What an application is: all that `init` knows of it before it plans a change. A single application is
 * treated as a monorepo with one member.
 */
import { SUPABASE_ROLES } from "../../visitors-sql.js";
import { type DatabaseFacts, readDatabase } from "./database.js";
import { type Http, readHttp } from "./http.js";
import { limitsFileOf, presentLimits } from "./limits.js";
import type { Member } from "./member.js";
import { type Example, findExample } from "./mutations.js";
import type { Project } from "./project.js";
import { refuse } from "./refuse.js";
import { seesSupabase } from "./sees-supabase.js";
import { handlersOf } from "./server.js";
import { readTrpc, type Trpc } from "./trpc.js";
import { majorOf } from "./versions.js";
import { readWebs, type Web } from "./web.js";

export interface Application {
  /** Without its file of tRPC where that is tRPC 10, into which nothing is wired. */
  project: Project;
  /** The whole project, where it has tRPC 10. */
  withTrpc10: Project | undefined;
  /** The file of the limits. `init` writes it if it is new. */
  limits: { file: string; isNew: boolean };
  database: DatabaseFacts;
  /** `undefined` without tRPC, and with tRPC 10. */
  trpc: Trpc | undefined;
  /** `undefined` with tRPC. */
  http: Http | undefined;
  /** The packages that serve tRPC. */
  servers: readonly Member[];
  webs: readonly Web[];
  /** A mutation for examples, and the components that call it. */
  example: Example | undefined;
  /** The roles of visitors, which get no right on the tables. Empty where there are no such roles. */
  closedTo: readonly string[];
}

/** @throws CliError when limits cannot be kept in the application's database. */
export async function readApplication(found: Project): Promise<Application> {
  const isTrpc10 = (await majorOf(found, found.api, "@trpc/server")) === 10;
  await refuse(found, isTrpc10);
  const present = presentLimits(found);
  const example = findExample(found);
  const project = isTrpc10 ? { ...found, trpcFile: undefined } : found;
  return {
    project,
    withTrpc10: isTrpc10 ? found : undefined,
    limits: { file: present ?? (await limitsFileOf(found)), isNew: present === undefined },
    database: await readDatabase(project),
    trpc: readTrpc(project),
    http: found.trpcFile === undefined ? await readHttp(project) : undefined,
    servers: isTrpc10 ? [] : handlersOf(project).map(({ member }) => member),
    webs: readWebs(project, example),
    example,
    closedTo: (await seesSupabase(project)) ? SUPABASE_ROLES : [],
  };
}
