/** Keeps the chosen configs in the demo's database, in the row of each visitor. */
import type { PrismaClient } from "../shared/generated/prisma/client.js";
import { whenFree } from "../shared/server/when-free.js";
import { type ChosenConfigs, playgroundConfig } from "./chosen-config.js";

export function keepInPrisma(prisma: PrismaClient): ChosenConfigs {
  return {
    async load(visitor) {
      const row = await prisma.visitor.findUnique({ where: { id: visitor } });
      return row ? playgroundConfig(row.playground) : undefined;
    },
    async save(visitor, config) {
      const playground = JSON.stringify(config);
      await whenFree(prisma, () =>
        prisma.visitor.upsert({
          where: { id: visitor },
          create: { id: visitor, playground },
          update: { playground },
        }),
      );
    },
  };
}
