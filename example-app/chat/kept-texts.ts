/** What has not gone yet, kept by the tab over a reload. A nonce lets the server store a message once. */
import { KEPT_AS } from "../shared/page/seat.js";

export interface Unsent {
  text: string;
  nonce: string;
}

export interface KeptTexts {
  typed: string;
  unsent: readonly Unsent[];
}

const NAME = `chat-outbox${KEPT_AS}`;
const NOTHING: KeptTexts = { typed: "", unsent: [] };

export function readKept(): KeptTexts {
  try {
    return (JSON.parse(sessionStorage.getItem(NAME) ?? "null") as KeptTexts | null) ?? NOTHING;
  } catch {
    // A browser may forbid storage, and a visitor may write into it.
    return NOTHING;
  }
}

export function keep(texts: KeptTexts): void {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(texts));
  } catch {
    // Without storage, a reload loses them.
  }
}
