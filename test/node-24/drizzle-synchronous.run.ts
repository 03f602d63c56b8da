import { describeSynchronousDrizzle } from "../support/drizzle-synchronous.js";
import { drizzleNodeSqlite } from "../support/drizzle-1.js";

describeSynchronousDrizzle("node:sqlite", await drizzleNodeSqlite());
