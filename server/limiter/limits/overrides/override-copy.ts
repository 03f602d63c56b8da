/**
 * The table of overrides in the memory of a process, as calls look for them. A row that has not changed
 * is not parsed again, and keeps the limits that were resolved by it.
 */
import { bucketId } from "../../../../core/bucket-id.js";
import { isSameOverride, type OverrideRow } from "../../../store/override-table.js";
import { overrideOf } from "./override-rule.js";
import type { KnownOverride, OverridesOfLimit } from "./overrides-by-name.js";

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

  of(name: string): OverridesOfLimit | undefined {
    return this.#byName.get(name);
  }

  /** @param before the copy whose parsed rows are kept, where they are still the same. */
  put(row: OverrideRow, before: OverrideCopy = this): void {
    const id = bucketId(row.name, row.key);
    const isSame = isSameOverride(before.#rows.get(id), row);
    if (isSame && before === this) return;
    this.#rows.set(id, row);
    this.#know(row, isSame ? before.#known(row) : this.#parsed(row));
  }

  delete({ name, key }: Pick<OverrideRow, "name" | "key">): void {
    if (this.#rows.delete(bucketId(name, key))) this.#know({ name, key }, undefined);
  }

  #known({ name, key }: Pick<OverrideRow, "name" | "key">): KnownOverride | undefined {
    const ofLimit = this.#byName.get(name);
    return key === "" ? ofLimit?.all : ofLimit?.byKey.get(key);
  }

  #parsed(row: OverrideRow): KnownOverride | undefined {
    const override = overrideOf(row);
    if (override === undefined) this.#notValid(row);
    return override && { override, resolved: new WeakMap() };
  }

  #know({ name, key }: Pick<OverrideRow, "name" | "key">, known: KnownOverride | undefined): void {
    let ofLimit = this.#byName.get(name);
    if (ofLimit === undefined) {
      if (known === undefined) return;
      this.#byName.set(name, (ofLimit = { all: undefined, byKey: new Map() }));
    }
    if (key === "") ofLimit.all = known;
    else if (known === undefined) ofLimit.byKey.delete(key);
    else ofLimit.byKey.set(key, known);
    if (ofLimit.all === undefined && ofLimit.byKey.size === 0) this.#byName.delete(name);
  }
}
