import type { PrismaClient } from "../../../../example-app/generated/prisma/client.js";

export declare const prisma: PrismaClient;
