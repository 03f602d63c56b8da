/**
 * Connects through the client that the application has generated with Prisma 6, by Prisma's own engine.
 * An application with Prisma 6 may have no driver. Prisma 7 always has a driver, in its adapter.
 */
import { dirname, join, resolve } from "node:path";
import { isBefore7, prisma6Connection } from "../../server/store/drivers/prisma/prisma-6.js";
import type {
  ClientInternals,
  PrismaRaw,
} from "../../server/store/drivers/prisma/prisma-client.js";
import type { DialectName, SqlConnection } from "../../server/store/sql/driver.js";
import { listFiles, readText } from "../init/files/files.js";
import type { DatabaseUrl } from "./database-url.js";
import { loadPackage } from "./load-package.js";

type Client = PrismaRaw & ClientInternals & { $disconnect(): Promise<void> };

/** A `Database` of `connect.ts`, which imports this file. */
interface Connected {
  driver: string;
  connection: SqlConnection;
  close(): Promise<void>;
}

interface ClientModule {
  PrismaClient?: new (options: object) => Client;
}

const PROVIDERS: Record<DialectName, readonly string[]> = {
  postgresql: ["postgresql", "cockroachdb"],
  mysql: ["mysql"],
  sqlite: ["sqlite"],
};

/** @returns `undefined` if no folder has such a client for this kind of database. */
export async function connectPrisma(
  folders: readonly string[],
  url: DatabaseUrl,
): Promise<Connected | undefined> {
  const datasourceUrl = url.file === undefined ? url.url : `file:${url.file}`;
  for (const folder of folders) {
    for (const place of await placesOfClients(folder)) {
      const client = await open(folder, place, datasourceUrl);
      if (client === undefined) continue;
      const { _activeProvider: provider = "", _clientVersion: version } = client;
      if (isBefore7(version) && PROVIDERS[url.dialect].includes(provider)) {
        const connection = plainErrors(prisma6Connection(client, url.dialect));
        if (await hasEngine(connection)) {
          return { driver: `Prisma ${version}`, connection, close: () => client.$disconnect() };
        }
      }
      await client.$disconnect();
    }
  }
  return undefined;
}

/** The places of generated clients: the `output` of each schema, and the default place of Prisma 6. */
async function placesOfClients(folder: string): Promise<string[]> {
  const outputs: string[] = [];
  for (const file of await listFiles(folder, "", /\.prisma$/)) {
    const text = (await readText(folder, file)) ?? "";
    for (const [, output] of text.matchAll(/^\s*output\s*=\s*"([^"]+)"/gm)) {
      outputs.push(resolve(dirname(join(folder, file)), output!));
    }
  }
  return [...outputs, "@prisma/client"];
}

/** `undefined` where the constructor throws: the client was not generated, or needs an adapter. */
async function open(folder: string, place: string, url: string): Promise<Client | undefined> {
  try {
    const { PrismaClient } = (await loadPackage(folder, place)) as ClientModule;
    return new PrismaClient!({ datasourceUrl: url, errorFormat: "minimal", log: [] });
  } catch {
    return undefined;
  }
}

/** Whether the engine for this machine is there. `prisma generate` downloads the engine. */
async function hasEngine({ query }: SqlConnection): Promise<boolean> {
  return query("SELECT 1", []).then(
    () => true,
    // Another error, such as a database that cannot be reached, says nothing against the engine.
    ({ message }: Error) => !/could not locate the query engine/i.test(message),
  );
}

/** Takes the name of our call off the start of Prisma's messages. */
function plainErrors(connection: SqlConnection): SqlConnection {
  const rethrow = (error: unknown): never => {
    const { message } = error as Error;
    throw new Error(message.replace(/^\s*Invalid `[^`]*` invocation[^\n]*\s*/, ""), {
      cause: error,
    });
  };
  return {
    query: (text, params) => connection.query(text, params).catch(rethrow),
    execute: (text, params) => connection.execute(text, params).catch(rethrow),
  };
}
