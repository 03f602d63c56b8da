/**
 * Generates a client of Prisma 6 with its Rust engine. The engine for Node.js is a separate download. The
 * engine for the edge is in the package, as WebAssembly, and Node.js can run its loader. Generating looks
 * for two binaries, but runs neither.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Project } from "../scaffolds/project.js";

const SCHEMA = `generator client {
  provider        = "prisma-client-js"
  output          = "generated"
  previewFeatures = ["driverAdapters"]
}

datasource db {
  provider = "postgresql"
  url      = env("DATABASE_URL")
}

model RateLimit {
  name  String
  key   String @default("")
  shard Int    @default(0)
  used  Float
  ts    Float

  @@id([name, key, shard])
}
`;

const LOADER = `import { readFileSync } from "node:fs";
const file = new URL("./query_engine_bg.wasm", import.meta.url);
export default Promise.resolve({ default: new WebAssembly.Module(readFileSync(file)) });
`;

export async function generateClient({ root, run }: Project): Promise<void> {
  await writeFile(join(root, "schema.prisma"), SCHEMA);
  await run("node_modules/.bin/prisma", ["generate", "--schema", "schema.prisma"], {
    env: {
      DATABASE_URL: "postgresql://none",
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_QUERY_ENGINE_LIBRARY: process.execPath,
    },
  });
  await writeFile(join(root, "generated/wasm-worker-loader.mjs"), LOADER);
}
