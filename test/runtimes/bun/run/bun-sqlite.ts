import { describeSynchronous } from "../../../server/store/drivers/sqlite/sqlite-clients.js";

describeSynchronous("bun:sqlite");
