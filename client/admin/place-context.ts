/** What a control room shows now, and how a part of the room shows something else. */
"use client";
import { createContext, useContext, useMemo, useState, useSyncExternalStore } from "react";
import { type Address, createAddress } from "./address.js";
import { type Place, placeOf, textOf } from "./place.js";

export interface Places {
  place: Place;
  /**
   * Changes fields of the place.
   * @param change a function where it depends on what is shown by then.
   * @param isStep whether the browser's back button leads to what is shown now.
   */
  go(change: Place | ((before: Place) => Place), isStep: boolean): void;
  /** The address of another place, for a link; `undefined` where places have no address. */
  hrefOf(change: Place): string | undefined;
}

export const PlaceContext = createContext<Places | undefined>(undefined);

export function usePlaces(): Places {
  return useContext(PlaceContext)!;
}

/** @param isInAddress whether the address of the page has the place. As of the first render. */
export function useAddress(isInAddress: boolean): Places {
  const [{ address, go, hrefOf }] = useState(() => movesOf(createAddress(isInAddress)));
  // A server knows no address, and neither does the first render in the browser.
  const text = useSyncExternalStore(address.subscribe, address.read, () => "");
  return useMemo(() => ({ place: placeOf(text), go, hrefOf }), [text, go, hrefOf]);
}

function movesOf(address: Address) {
  function textWith(change: Parameters<Places["go"]>[0]): string {
    const before = placeOf(address.read());
    return textOf({ ...before, ...(typeof change === "function" ? change(before) : change) });
  }
  const go: Places["go"] = (change, isStep) => address.write(textWith(change), isStep);
  return {
    address,
    go,
    hrefOf: (change: Place) => address.hrefOf(textWith(change)),
  };
}
