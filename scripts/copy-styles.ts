/**
 * Copies the stylesheets beside the code in `dist`, each with a declaration. With the declaration,
 * `import "trpc-rate-limit/styles.css"` compiles in applications without types for stylesheets, too.
 */
import { copyFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

for (const file of await readdir(join(ROOT, "client"), { recursive: true })) {
  if (!file.endsWith(".css")) continue;
  const target = join(ROOT, "dist/client", file);
  await copyFile(join(ROOT, "client", file), target);
  await writeFile(`${target}.d.ts`, "export {};\n");
}
