export * from "../../../../../example-app/generated/prisma/client.js";
