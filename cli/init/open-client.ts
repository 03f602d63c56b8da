/** Opens a pool in `limits.ts`, for an application that exports none of its own. */
import { type Application, findSource } from "./application.js";
import type { PlainClient, Storage } from "./storage.js";

export interface OpenedClient {
  name: string;
  importLine: string;
  lines: string;
}

/** `undefined` where another connection would not do, such as one to a SQLite file. */
export async function openClient(
  app: Application,
  storage: Storage,
): Promise<OpenedClient | undefined> {
  if (storage.kind !== "plain" || !isPooled(storage.client)) return undefined;
  const url = `process.env.DATABASE_URL${app.extension === "ts" ? "!" : ""}`;
  return { name: "pool", ...(await OPENS[storage.client](app, url)) };
}

const NOTE = "// If the application has a pool already, export it there and import it here.";

type Opens = (app: Application, url: string) => Promise<Omit<OpenedClient, "name">>;

const OPENS: Record<"pg" | "mysql2" | "mariadb", Opens> = {
  async pg({ root, sources }, url) {
    // As the application imports it, because that is what its settings allow.
    const named = /import\s*\{[^}]*\bPool\b[^}]*\}\s*from\s*["']pg["']/;
    const isNamed = (await findSource(root, sources, named)) !== undefined;
    return {
      importLine: isNamed ? `import { Pool } from "pg";` : `import pg from "pg";`,
      lines: `${NOTE}
const pool = new ${isNamed ? "Pool" : "pg.Pool"}({ connectionString: ${url.replace("!", "")} });
// Without a listener, the end of an idle connection ends the process.
pool.on("error", (error) => console.warn("a connection has ended", error));`,
    };
  },
  async mysql2(_app, url) {
    return {
      importLine: `import { createPool } from "mysql2/promise";`,
      lines: `${NOTE}\nconst pool = createPool(${url});`,
    };
  },
  async mariadb(_app, url) {
    return {
      importLine: `import { createPool } from "mariadb";`,
      lines: `${NOTE}\nconst pool = createPool(${url}.replace(/^mysql:/, "mariadb:"));`,
    };
  },
};

function isPooled(client: PlainClient): client is keyof typeof OPENS {
  return client in OPENS;
}
