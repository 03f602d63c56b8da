import type { PrismaClient } from "../../../../prisma/generated/client/client.js";

export declare const prisma: PrismaClient;
