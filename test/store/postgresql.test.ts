import { prismaStore } from "../../server/index.js";
import { createPostgres } from "../support/database.js";
import { describeStore } from "./contract.js";

describeStore("prismaStore on PostgreSQL", async () => {
  const database = await createPostgres();
  return {
    store: prismaStore(database.prisma),
    peer: prismaStore(database.connect()),
    close: () => database[Symbol.asyncDispose](),
  };
});
