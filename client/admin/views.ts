/** The views of a control room, in the order of their links. The first one is shown at first. */
import type { ComponentType } from "react";
import { lazyPart } from "./lazy-part.js";
import { LimitsView } from "./limits-view.js";

export interface View {
  /** Stands in the address of the page. */
  id: string;
  label: string;
  Component: ComponentType;
}

export const VIEWS: readonly View[] = [
  { id: "limits", label: "Limits", Component: LimitsView },
  {
    id: "who",
    label: "Who",
    Component: lazyPart(async () => (await import("./who-view.js")).WhoView),
  },
  {
    id: "overrides",
    label: "Overrides",
    Component: lazyPart(async () => (await import("./overrides-view.js")).OverridesView),
  },
  {
    id: "changes",
    label: "Changes",
    Component: lazyPart(async () => (await import("./changes-view.js")).ChangesView),
  },
];

/** The view of an address. An address can name a view that there is not. */
export function viewOf(id: string | undefined): View {
  return VIEWS.find((view) => view.id === id) ?? VIEWS[0]!;
}
