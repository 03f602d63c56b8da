/** The values that a provider gives to the countdowns below it; none without a provider. */
"use client";
import { createContext } from "react";
import type { CountdownWords } from "./words.js";

export interface CountdownContextValue extends CountdownWords {
  /** The seconds with which the server has rendered the page, by `retryAt`. */
  readonly seconds?: ReadonlyMap<number, number> | undefined;
}

export const CountdownContext = createContext<CountdownContextValue>({});
