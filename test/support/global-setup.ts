/** Provides one PostgreSQL server to all tests: TEST_POSTGRES_URL, or a new server without it. */
import type { TestProject } from "vitest/node";
import { startPostgres } from "./postgres-server.js";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

export default async function setup({ provide }: TestProject) {
  const configuredUrl = process.env["TEST_POSTGRES_URL"];
  const server = configuredUrl === undefined ? await startPostgres() : undefined;
  provide("postgresUrl", configuredUrl ?? server!.url);
  return () => server?.stop();
}
