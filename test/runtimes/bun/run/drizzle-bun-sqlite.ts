import { createRequire } from "node:module";
import type { DrizzleLike } from "../../../../server/drizzle/index.js";
import { describeSynchronousDrizzle } from "../../../support/drizzle-synchronous.js";

const { drizzle } = createRequire(import.meta.url)("drizzle-orm/bun-sqlite") as {
  drizzle: (config: { client: object }) => DrizzleLike;
};

describeSynchronousDrizzle("bun:sqlite", (client) => drizzle({ client }));
