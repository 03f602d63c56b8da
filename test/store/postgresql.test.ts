import { prismaStore } from "../../server/index.js";
import { createPostgres } from "../support/database.js";
import { describeStore, isolations } from "./contract.js";

for (const [name, options] of isolations) {
  describeStore(`prismaStore on PostgreSQL, ${name},`, async () => {
    const database = await createPostgres();
    return {
      store: prismaStore(database.prisma, options),
      peer: prismaStore(database.connect(), options),
      close: () => database[Symbol.asyncDispose](),
    };
  });
}
