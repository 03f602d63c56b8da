import { createPostgres } from "../support/database.js";
import { describeSqlStore } from "./sql-contract.js";

const create = () => createPostgres();

describeSqlStore("postgresql", "prismaStore on PostgreSQL", create);
describeSqlStore("pg", "pgStore on PostgreSQL", create);
describeSqlStore("pg and prisma", "prismaStore with a pool on PostgreSQL", create);
