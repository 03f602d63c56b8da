import { expect, it } from "vitest";
import { piecesOf } from "../../../example-app/playground/code-pieces.js";

it("colours the lines of the code, and changes none of their text", () => {
  const code = `import { a } from "b";

const rate = 10_000; // "2" of 3
`;
  const lines = piecesOf(code);
  expect(lines).toEqual([
    [["keyword", "import"], " { a } ", ["keyword", "from"], " ", ["string", '"b"'], ";"],
    [],
    [["keyword", "const"], " rate = ", ["number", "10_000"], "; ", ["comment", '// "2" of 3']],
  ]);
  const texts = lines.map((line) =>
    line.map((piece) => (typeof piece === "string" ? piece : piece[1])),
  );
  expect(`${texts.map((line) => line.join("")).join("\n")}\n`).toBe(code);
});
