/** One PostgreSQL for the whole run: the server named by TEST_POSTGRES_URL, or one of our own. */
import type { TestProject } from "vitest/node";
import { startPostgres } from "./postgres-server.js";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

export default async function setup({ provide }: TestProject) {
  const given = process.env["TEST_POSTGRES_URL"];
  const own = given === undefined ? await startPostgres() : undefined;
  provide("postgresUrl", given ?? own!.url);
  return () => own?.stop();
}
