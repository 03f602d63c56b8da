import { createPostgres } from "../support/database.js";
import { describePrismaStore } from "./prisma-contract.js";

describePrismaStore("PostgreSQL", () => createPostgres());
