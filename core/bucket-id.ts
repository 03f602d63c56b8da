/** One string for a name and a key. Neither holds a NUL, so no two pairs share a string. */
export function bucketId(name: string, key: string = ""): string {
  return `${name}\0${key}`;
}
