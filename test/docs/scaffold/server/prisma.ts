import type { PrismaClient } from "../../../../example-app/shared/generated/prisma/client.js";

export declare const prisma: PrismaClient;
