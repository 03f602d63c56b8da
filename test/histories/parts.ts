/**
 * Splits a history into independent parts. Buckets are independent unless a `limitAll` uses both. A
 * history is linearizable if each independent part is. Herlihy and Wing, "Linearizability" (1990),
 * call this property locality.
 */
import type { Operation } from "./operation.js";

export interface Part {
  keys: string[];
  operations: Operation[];
}

/** No operation uses keys of two parts. */
export function partsOf(history: readonly Operation[]): Part[] {
  const parents = new Map<string, string>();
  const rootOf = (key: string): string => {
    const parent = parents.get(key) ?? key;
    return parent === key ? key : rootOf(parent);
  };
  for (const { items } of history) {
    for (const { key } of items) parents.set(rootOf(key), rootOf(items[0]!.key));
  }
  const parts = new Map<string, Part>();
  for (const key of [...parents.keys()].sort()) {
    const part = parts.get(rootOf(key)) ?? { keys: [], operations: [] };
    part.keys.push(key);
    parts.set(rootOf(key), part);
  }
  for (const operation of history) {
    parts.get(rootOf(operation.items[0]!.key))!.operations.push(operation);
  }
  return [...parts.values()];
}
