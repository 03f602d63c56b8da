import { expect, it } from "vitest";
import { parseOutput } from "../../../../cli/init/check/run-tsc.js";

it("the output has errors, each with its first and its last line, and the files that were compiled", () => {
  const output = [
    "src/(group)/[id]/page.tsx(3,14): error TS2322: Type 'A' is not assignable to type 'B'.",
    "  Types of property 'a' are incompatible.",
    "    Type 'string' is not assignable to type 'number'.",
    "error TS2688: Cannot find type definition file for 'vite/client'.",
    "/app/node_modules/typescript/lib/lib.d.ts",
    "/app/web/src/main.ts",
    "",
  ].join("\r\n");
  expect(parseOutput(output, "/app/web")).toEqual({
    errors: [
      {
        file: "src/(group)/[id]/page.tsx",
        line: 3,
        code: "TS2322",
        message: "Type 'A' is not assignable to type 'B'.",
        detail: "Type 'string' is not assignable to type 'number'.",
      },
      {
        file: "",
        line: 0,
        code: "TS2688",
        message: "Cannot find type definition file for 'vite/client'.",
        detail: "",
      },
    ],
    files: new Set(["../node_modules/typescript/lib/lib.d.ts", "src/main.ts"]),
  });
});
