import { MINUTE, prismaStore } from "trpc-rate-limit/server";
import { prisma } from "./prisma.js";

export const store = prismaStore(prisma);
export const limits = { sendMessage: { kind: "token bucket", rate: 10, period: MINUTE } } as const;
