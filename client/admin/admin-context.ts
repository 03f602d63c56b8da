/** The values that all parts of a control room share. */
"use client";
import { createContext, useContext } from "react";
import type { AdminClient } from "./admin-client.js";
import type { AdminLimits, KeyInput } from "./admin-types.js";
import type { Changes } from "./changes.js";
import type { Formats } from "./formats.js";

export interface Admin {
  client: AdminClient;
  formats: Formats;
  /** ms between an answer and the next question. */
  interval: number;
  limits: AdminLimits;
  changes: Changes;
  /** Shows one key. */
  openKey(input: KeyInput): void;
}

export const AdminContext = createContext<Admin | undefined>(undefined);

export function useAdmin(): Admin {
  return useContext(AdminContext)!;
}
