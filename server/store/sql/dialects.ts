/** The dialects, by the name that a driver gives. */
import type { Dialect } from "./dialect.js";
import type { DialectName } from "./driver.js";
import { mysql } from "./mysql/mysql.js";
import { postgresql } from "./postgresql/postgresql.js";
import { sqlite } from "./sqlite/sqlite.js";

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = { postgresql, mysql, sqlite };
