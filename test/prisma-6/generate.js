/** Generates a client for each kind of database, without network and without a query engine. */
import { spawnSync } from "node:child_process";

// The address is only looked at, so that it fits the kind.
const KINDS = { sqlite: "file:./none.db", postgresql: "postgresql://none", mysql: "mysql://none" };

for (const [kind, url] of Object.entries(KINDS)) {
  const { status } = spawnSync("prisma", ["generate", "--schema", `${kind}.prisma`], {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      DATABASE_URL: url,
      // Both are looked for, but generating runs neither. Any file that exists will do.
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_QUERY_ENGINE_LIBRARY: process.execPath,
    },
  });
  if (status !== 0) process.exit(1);
}
