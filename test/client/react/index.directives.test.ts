/** Next.js takes a file for a client file only by the directive at its very top. */
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const BUILT = fileURLToPath(new URL("../../../dist/client/", import.meta.url));
/** Comments may come before a directive. */
const DIRECTIVE = /^(?:\s|\/\*[\s\S]*?\*\/|\/\/[^\n]*\n)*["']use client["'];/;

it.each(["admin/", "countdown/", "devtools/", "fetch/react/", "react/"])(
  "says that it is for the client at the top of each built file that needs one: %s",
  async (folder) => {
    const files = (await readdir(BUILT + folder)).filter((file) => file.endsWith(".js"));
    expect(files).toContain("index.js");
    for (const file of files) {
      const code = await readFile(BUILT + folder + file, "utf8");
      const needsClient =
        file === "index.js" || /\b(?:use[A-Z]\w*|create(?:Context))\(|_jsx/.test(code);
      expect([file, DIRECTIVE.test(code)]).toEqual([file, needsClient]);
    }
  },
);
