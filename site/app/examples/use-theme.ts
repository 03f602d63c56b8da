/** The theme of the page: the reader's choice in the bar, or else that of the system. */
import { useSyncExternalStore } from "react";

const system = matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;

function themeNow(): "light" | "dark" {
  const { scheme } = root.dataset;
  return scheme === "dark" || (scheme !== "light" && system.matches) ? "dark" : "light";
}

function subscribe(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(root, { attributeFilter: ["data-scheme"] });
  system.addEventListener("change", changed);
  return () => {
    observer.disconnect();
    system.removeEventListener("change", changed);
  };
}

export const useTheme = () => useSyncExternalStore(subscribe, themeNow);
