/** One string for a name and a key. Neither holds a NUL, so no two pairs share one. */
export function bucketId(name: string, key: string = ""): string {
  return `${name}\0${key}`;
}
