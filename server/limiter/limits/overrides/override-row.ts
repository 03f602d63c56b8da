/**
 * The names of the rows of overrides. A limit, or a key of it, has one row of each kind, so that a write of
 * one row replaces an override of that kind, and no other.
 */
import { OVERRIDE_KINDS } from "../../../../core/override-kinds.js";
import { RESERVED_PREFIX } from "../../../../core/rows/side-rows.js";
import type { OverrideKind } from "../../types/override-types.js";
import type { OverrideRow } from "../../../store/override-table.js";

const PREFIXES = OVERRIDE_KINDS.map((kind) => `${RESERVED_PREFIX}${kind}:`);

/** The most characters of the name of a limit with overrides. */
export const LONGEST_PREFIX = Math.max(...PREFIXES.map(({ length }) => length));

/** The name of the row. */
export function rowNameOf(kind: OverrideKind, name: string): string {
  return PREFIXES[OVERRIDE_KINDS.indexOf(kind)]! + name;
}

/** The names of all rows that a limit, or a key of it, can have. Earlier versions had one, of any kind. */
export function rowNamesOf(name: string): string[] {
  return [name, ...PREFIXES.map((prefix) => prefix + name)];
}

/** The limit that a row is about. A row of no override keeps its own name, which no limit has. */
export function limitNameOf({ name }: Pick<OverrideRow, "name">): string {
  if (!name.startsWith(RESERVED_PREFIX)) return name;
  const prefix = PREFIXES.find((each) => name.startsWith(each));
  return prefix === undefined ? name : name.slice(prefix.length);
}

/** The start of the names of rows that are no overrides: the log of changes, see `change-log.ts`. */
export const CHANGE_PREFIX = `${RESERVED_PREFIX}change:`;

export function isChange({ name }: Pick<OverrideRow, "name">): boolean {
  return name.startsWith(CHANGE_PREFIX);
}
