/** The order of keys as people count: `customer 9` before `customer 10`. The shared bucket comes first. */
const { compare } = new Intl.Collator(undefined, { numeric: true });

export function compareKeys(a: string | undefined = "", b: string | undefined = ""): number {
  return compare(a, b);
}
