/** Questions about an object of which nothing is known. */

export function hasMethods(object: object, ...names: readonly string[]): boolean {
  return names.every((name) => typeof property(object, name) === "function");
}

export function property(object: object, name: string): unknown {
  return (object as Record<string, unknown>)[name];
}
