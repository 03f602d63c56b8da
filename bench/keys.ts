/** The names of the keys that are limited. */
export function keyAt(index: number): string {
  return `key ${index}`;
}
