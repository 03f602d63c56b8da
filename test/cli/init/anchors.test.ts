/** Edits at places that are known by their text. */
import { expect, it } from "vitest";
import { applyEdits } from "../../../cli/init/anchors.js";

const FIND = "a({ b: { c: { d: { e: { f: [1, 2, 3, 4] } } } } });";
const edit = { find: FIND, replace: () => "done" };

it("finds a place in another format, and not in a comment", () => {
  const wide = FIND.replaceAll(" ", "\n        ").replace("4]", "4,\n]");
  expect(applyEdits(`// ${FIND}\n${wide}\n`, [edit])).toBe(`// ${FIND}\ndone\n`);
  expect(applyEdits(`// ${FIND}\n`, [edit])).toBeUndefined();
});

it("gives up at once on a place that differs at its end", () => {
  const other = FIND.replaceAll(" ", `\n${" ".repeat(40)}`).replace(");", "); //");
  const start = performance.now();
  expect(applyEdits(other.replace("})", "} // mine\n)"), [edit])).toBeUndefined();
  expect(performance.now() - start).toBeLessThan(1000);
});
