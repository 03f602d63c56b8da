/** What a control room shows, as the parameters of an address: `rla-view=who&rla-range=day`. */
import type { KeyInput } from "./admin-types.js";

/** Each field is left out where the view's own default is shown. */
export interface Place {
  view?: string | undefined;
  limit?: string | undefined;
  /** The key that is shown; `undefined` while a view is shown. */
  key?: KeyInput | undefined;
  /** As `rangeOf` of usage-ranges.ts reads it. */
  range?: string | undefined;
  /** The choice within the view, such as all keys in place of the limited ones. */
  tab?: string | undefined;
}

/** All parameters of a control room begin with this text. */
export const PREFIX = "rla-";
const FIELDS = ["view", "limit", "range", "tab"] as const;
/** Characters. The server takes shorter keys than this. */
const LONGEST = 1000;

export function textOf(place: Place): string {
  const params = new URLSearchParams();
  for (const field of FIELDS) {
    const value = place[field];
    if (value !== undefined) params.set(PREFIX + field, value);
  }
  if (place.key) params.set(`${PREFIX}key`, keyText(place.key));
  return params.toString();
}

/** Anybody can write an address, so the views check each value again against what there is. */
export function placeOf(text: string): Place {
  const params = new URLSearchParams(text);
  const key = keyOf(params.get(`${PREFIX}key`));
  const place: Place = key ? { key } : {};
  for (const field of FIELDS) {
    const value = params.get(PREFIX + field);
    if (value !== null) place[field] = value;
  }
  return place;
}

/**
 * The word before the colon tells the two kinds of keys apart. It also keeps a key such as `007` or
 * `12345678901234567890` a text for routers that read parameters as JSON.
 */
function keyText({ key, stored }: KeyInput): string {
  if (key === undefined) return "shared";
  return `${stored ? "stored" : "typed"}:${key}`;
}

function keyOf(text: string | null): KeyInput | undefined {
  if (text === "shared") return {};
  const [, kind, key] = /^(stored|typed):([^]+)$/.exec(text ?? "") ?? [];
  if (key === undefined || key.length > LONGEST) return undefined;
  return kind === "stored" ? { key, stored: true } : { key };
}
