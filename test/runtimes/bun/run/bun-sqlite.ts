import { describeSynchronous } from "../../../server/store/drivers/sqlite-clients.js";

describeSynchronous("bun:sqlite");
