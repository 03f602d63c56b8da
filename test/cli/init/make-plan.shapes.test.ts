/** `init` in applications as people have them: what it writes, prints and refuses. */
import { describe, expect, it } from "vitest";
import { shapeProblems } from "../../support/shape-problems.js";
import { SHAPES } from "../../support/shapes/index.js";

// `$name` would cut the names.
describe.each(SHAPES.map((shape) => [shape.name, shape] as const))("%s", (_, shape) => {
  it.each(shape.places ?? [""])("gets what is right, once, run in the folder %j", async (place) => {
    expect((await shapeProblems(shape, place)).join("\n")).toBe("");
  });
});
