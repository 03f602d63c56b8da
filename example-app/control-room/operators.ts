/**
 * The visitors who wear the hat of an operator, who helps users. An application knows its operators from
 * its own table of users. In the demo, each visitor is an operator at first. A visitor who has taken off
 * the hat has a row, which all processes read.
 */
import type { PrismaClient } from "../shared/generated/prisma/client.js";
import { saveSetting } from "../shared/server/settings.js";
import { whenFree } from "../shared/server/when-free.js";

export interface Operators {
  /** Whether a visitor may be an operator. In production, visitors must not ban each other. */
  isOpen: boolean;
  has(visitor: string): Promise<boolean>;
  set(visitor: string, isOperator: boolean): Promise<void>;
}

export function keepOperators(prisma: PrismaClient): Operators {
  const isOpen = process.env["NODE_ENV"] !== "production";
  const nameOf = (visitor: string) => `no operator ${visitor}`;
  return {
    isOpen,
    async has(visitor) {
      if (!isOpen) return false;
      const name = nameOf(visitor);
      return (await prisma.setting.findUnique({ where: { name } })) === null;
    },
    async set(visitor, isOperator) {
      const name = nameOf(visitor);
      if (isOperator) await whenFree(prisma, () => prisma.setting.deleteMany({ where: { name } }));
      else await saveSetting(prisma, name, "");
    },
  };
}
