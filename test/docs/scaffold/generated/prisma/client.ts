export * from "../../../../../example-app/shared/generated/prisma/client.js";
