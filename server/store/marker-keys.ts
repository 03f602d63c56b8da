/**
 * The keys of the markers of calls with `once`. It is the key of the bucket, a bar and the id. In the
 * key of the bucket, a bar has a backslash before it. So no two pairs of key and id share a marker,
 * and the markers of one key follow each other. A store may have to find the bucket of a marker.
 */

/** What the names of all markers begin with; the name of their limit follows. */
export const MARKER_PREFIX = "trpc-rate-limit:once:";

const SEPARATOR = "|";

/** The key of a marker. Without an id, it is what those of all markers of the key begin with. */
export function markerKey(storedKey: string, storedId: string = ""): string {
  return storedKey.replaceAll(/[\\|]/g, "\\$&") + SEPARATOR + storedId;
}

/** The key of the bucket that a marker is about. */
export function bucketKeyOf(key: string): string {
  const [escaped] = /^(?:[^\\|]|\\.)*/s.exec(key)!;
  return escaped.replaceAll(/\\(.)/gs, "$1");
}
