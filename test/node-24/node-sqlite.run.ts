import { createSqlite } from "../support/database.js";
import { describeSqlStore } from "../store/sql-contract.js";
import { describeSynchronous } from "../store/sqlite-clients.js";

describeSqlStore("node:sqlite", "sqliteStore on node:sqlite", createSqlite);
describeSynchronous("node:sqlite");
