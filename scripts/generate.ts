/**
 * Generates the Prisma clients of the tests and of the demo, two at a time. Prints nothing, unless a
 * client fails.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const PRISMA = fileURLToPath(new URL("../node_modules/prisma/build/index.js", import.meta.url));
const schemas = ["prisma", "example-app/shared/prisma"].flatMap((folder) =>
  ["", "postgresql/", "mysql/"].map((database) => `${folder}/${database}schema.prisma`),
);

function generate(schema: string): Promise<void> {
  return new Promise((resolve) => {
    const args = [PRISMA, "generate", "--schema", schema];
    execFile(process.execPath, args, (error, stdout, stderr) => {
      if (error !== null) {
        console.error(`prisma generate --schema ${schema} failed\n${stdout}${stderr}`);
        process.exitCode = 1;
      }
      resolve();
    });
  });
}

async function generateNext(): Promise<void> {
  for (let schema; (schema = schemas.shift()) !== undefined;) await generate(schema);
}

await Promise.all([generateNext(), generateNext()]);
