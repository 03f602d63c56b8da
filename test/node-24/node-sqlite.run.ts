import { createSqlite } from "../support/database.js";
import { describeSqlStore } from "../server/store/sql-contract.js";
import { describeSynchronous } from "../server/store/drivers/sqlite/sqlite-clients.js";

describeSqlStore("node:sqlite", "sqliteStore on node:sqlite", createSqlite);
describeSynchronous("node:sqlite");
