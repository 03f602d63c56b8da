import { defineConfig } from "prisma/config";

// Generating never runs the schema engine, which is otherwise downloaded at first use. Any file
// that exists satisfies the look-up, so generating works without network; `prisma migrate` still
// gets the real one.
if (process.argv.some((arg) => ["generate", "validate", "format"].includes(arg))) {
  process.env["PRISMA_SCHEMA_ENGINE_BINARY"] ??= process.execPath;
}

export default defineConfig({
  schema: "prisma/schema.prisma",
  migrations: { path: "prisma/migrations" },
  datasource: { url: process.env["DATABASE_URL"] ?? "file:./dev.db" },
});
