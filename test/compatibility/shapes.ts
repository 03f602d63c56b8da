/**
 * The shape of a JSON document: which fields it has, and of which types. A shape is what a reader of
 * an older version relies on. A newer document has that shape if it keeps every field and item with
 * its type; it may have more of them.
 */

/**
 * `"string"`, `"number"`, `"boolean"` or `"null"`; `=` and a value in JSON for a value that is
 * promised; a list of shapes, one for each item; an object of shapes.
 */
export type Shape = string | Shape[] | { [field: string]: Shape };

/** Fields whose values readers compare, and not only their types. */
const COMPARED = new Set(["kind", "code", "httpStatus", "status", "reason", "ok", "storeFailed"]);

/** The shape of what a version has written. */
export function shapeOf(value: unknown, field = ""): Shape {
  if (Array.isArray(value)) return value.map((item) => shapeOf(item));
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(([name, of]) => [name, shapeOf(of, name)]);
    return Object.fromEntries(fields) as Shape;
  }
  // A period is a number, or the word for a month.
  if (COMPARED.has(field) || value === "month") return `=${JSON.stringify(value)}`;
  return value === null ? "null" : typeof value;
}

/** What a reader that relies on the shape would miss in the value. */
export function problemsOf(value: unknown, shape: Shape, path = "it"): string[] {
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${path} is no list`];
    return shape.flatMap((of, i) =>
      i < value.length ? problemsOf(value[i], of, `${path}[${i}]`) : [`${path}[${i}] is missing`],
    );
  }
  if (typeof shape === "object") {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return [`${path} is no object`];
    }
    return Object.entries(shape).flatMap(([field, of]) =>
      Object.hasOwn(value, field)
        ? problemsOf((value as Record<string, unknown>)[field], of, `${path}.${field}`)
        : [`${path}.${field} is missing`],
    );
  }
  const found = shape.startsWith("=")
    ? `=${JSON.stringify(value)}`
    : value === null
      ? "null"
      : typeof value;
  return found === shape ? [] : [`${path} is ${found}, and was ${shape}`];
}
