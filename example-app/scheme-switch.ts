/**
 * The switch between light and dark, in the headers of the demo and of the site. The switch keeps the
 * choice where the pages of the documentation keep theirs: "light", "dark", or "auto" for the scheme of
 * the system.
 */
import type { Plugin } from "vite";

/** The bar of the documentation uses this icon, too. */
export const SCHEME_ICON = `<svg aria-hidden="true" viewBox="0 0 24 24" width="20" height="20"><circle cx="12" cy="12" r="9" fill="none" stroke="currentColor" stroke-width="2" /><path d="M12 3a9 9 0 0 1 0 18z" fill="currentColor" /></svg>`;

/**
 * For the head of a page. The script runs before anything is drawn, so no page shows other colours first.
 * The switch is a custom element, so it works before the scripts of a page have loaded, and in React.
 */
export const SCHEME_SCRIPT = `<script>
  {
    const KEY = "vitepress-theme-appearance";
    const root = document.documentElement;
    const system = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () =>
      root.dataset.scheme === "dark" || (root.dataset.scheme !== "light" && system.matches);
    const tell = (button) => {
      button.setAttribute("aria-checked", isDark());
      // The system's own colours, when they are chosen again, follow the system.
      button.title = root.dataset.scheme === "auto" ? "As the system" : "Chosen here";
    };
    const tellAll = () => document.querySelectorAll("scheme-switch button").forEach(tell);
    const show = (scheme) => {
      root.dataset.scheme = scheme === "light" || scheme === "dark" ? scheme : "auto";
      tellAll();
    };
    const read = () => {
      try {
        show(localStorage.getItem(KEY));
      } catch {
        show("auto"); // A browser may forbid storage.
      }
    };
    read();
    system.addEventListener("change", tellAll);
    // Other tabs, and the frames of this page, follow.
    addEventListener("storage", ({ key }) => (key === KEY || key === null) && read());
    customElements.define("scheme-switch", class extends HTMLElement {
      connectedCallback() {
        if (this.firstChild) return;
        const button = document.createElement("button");
        button.type = "button";
        button.setAttribute("role", "switch");
        button.setAttribute("aria-label", "Dark theme");
        button.innerHTML = '${SCHEME_ICON}';
        button.addEventListener("click", () => {
          const dark = !isDark();
          show(dark === system.matches ? "auto" : dark ? "dark" : "light");
          try {
            localStorage.setItem(KEY, root.dataset.scheme);
          } catch {} // The page still has the choice.
        });
        tell(button);
        this.append(button);
      }
    });
  }
</script>`;

/** Without JavaScript, the place of the switch stays empty. `scheme-switch.css` has its styles. */
export const SCHEME_SWITCH = `<scheme-switch></scheme-switch>`;

/** Puts the script into the demo's page. */
export const schemeSwitch: Plugin = {
  name: "scheme switch",
  transformIndexHtml: (html) => html.replace("<!--scheme-->", () => SCHEME_SCRIPT),
};
