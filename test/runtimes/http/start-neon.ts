/**
 * `neon()` of `@neondatabase/serverless`, on an imitation of Neon's proxy in front of a real PostgreSQL.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import type { PgHttpLike } from "../../../server/index.js";
import { createPostgres } from "../../support/database.js";
import { connectPool } from "../../support/open-store.js";
import { startNeonProxy } from "./neon-proxy.js";

const project = new URL("package.json", import.meta.url);
export const hasNeon = existsSync(new URL("node_modules/@neondatabase/serverless", project));
/** The message of a test that is skipped without this package. */
export const NO_NEON = "needs @neondatabase/serverless: npm run install:test-projects";

/** The host of this URL is not used: requests go to the local proxy. */
const URL_OF_NEON = "postgresql://user:none@neon.example/limits";

interface NeonModule {
  neon(url: string): PgHttpLike;
  neonConfig: { fetchEndpoint: string };
}

export interface StartedNeon extends AsyncDisposable {
  /** Another function of `neon()`, as in another process. */
  connect(): PgHttpLike;
  /** The database itself. */
  pool: ReturnType<typeof connectPool>;
  /** The values of `Authorization` that the proxy has seen. */
  tokens: ReadonlySet<string>;
}

export async function startNeon(): Promise<StartedNeon> {
  const database = await createPostgres();
  const pool = connectPool(database.url);
  const tokens = new Set<string>();
  const proxy = await startNeonProxy(pool as never, (token) => token && tokens.add(token));
  const { neon, neonConfig } = await importOfProject<NeonModule>("@neondatabase/serverless");
  neonConfig.fetchEndpoint = proxy.url;
  return {
    connect: () => neon(URL_OF_NEON),
    pool,
    tokens,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await pool.end();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Imports a package of this folder's own project. The package may not be installed. */
export async function importOfProject<TModule>(name: string): Promise<TModule> {
  const entry = createRequire(project).resolve(name);
  return (await import(pathToFileURL(entry).href)) as TModule;
}
