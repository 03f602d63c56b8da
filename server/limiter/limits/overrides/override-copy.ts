/**
 * The table of overrides in the memory of a process, as calls look for them. A row that has not changed
 * is not parsed again, and keeps the limits that were resolved by it.
 */
import { bucketId } from "../../../../core/bucket-id.js";
import { isSameOverride, type OverrideRow } from "../../../store/override-table.js";
import { isChange, limitNameOf } from "./override-row.js";
import { type KnownOverride, knownOf, layer, type OverridesOfLimit } from "./overrides-by-name.js";

export class OverrideCopy {
  readonly #byName = new Map<string, OverridesOfLimit>();
  /** All rows, those of other versions included, by name and key. */
  readonly #rows = new Map<string, OverrideRow>();
  readonly #notValid: (row: OverrideRow) => void;

  /** @param notValid is told of a row that this version cannot read. */
  constructor(notValid: (row: OverrideRow) => void) {
    this.#notValid = notValid;
  }

  /** How many rows there are. */
  get count(): number {
    return this.#rows.size;
  }

  row(id: string): OverrideRow | undefined {
    return this.#rows.get(id);
  }

  rows(): Iterable<OverrideRow> {
    return this.#rows.values();
  }

  of(name: string): OverridesOfLimit | undefined {
    return this.#byName.get(name);
  }

  /** @param before the copy whose parsed rows are kept, where they are still the same. */
  put(row: OverrideRow, before: OverrideCopy = this): void {
    const id = bucketId(row.name, row.key);
    const isSame = isSameOverride(before.#rows.get(id), row);
    if (isSame && before === this) return;
    this.#rows.set(id, row);
    if (isChange(row)) return;
    this.#know(row, isSame ? before.#known(row) : this.#parsed(row));
  }

  delete({ name, key }: Pick<OverrideRow, "name" | "key">): void {
    if (this.#rows.delete(bucketId(name, key))) this.#know({ name, key }, undefined);
  }

  #known(row: OverrideRow): KnownOverride | undefined {
    const ofLimit = this.#byName.get(limitNameOf(row));
    const layers = row.key === "" ? ofLimit?.all : ofLimit?.byKey.get(row.key);
    const id = bucketId(row.name, row.key);
    return layers?.find((each) => each.id === id);
  }

  #parsed(row: OverrideRow): KnownOverride | undefined {
    const known = knownOf(row);
    if (known === undefined) this.#notValid(row);
    return known;
  }

  #know(row: Pick<OverrideRow, "name" | "key">, known: KnownOverride | undefined): void {
    const { name, key } = row;
    layer(this.#byName, { name: limitNameOf(row), key }, bucketId(name, key), known);
  }
}
