/**
 * The switch between light and dark. It keeps the choice where the pages of the documentation keep
 * theirs: "light", "dark", or "auto" for the one of the system.
 */

/** Before anything is drawn. */
export const SCHEME_SCRIPT = `<script>
  try {
    document.documentElement.dataset.scheme = localStorage.getItem("vitepress-theme-appearance");
  } catch {} // A browser may forbid storage.
</script>`;

/** With its script beside it, so that it works before the page's part has loaded. Without one it is hidden. */
export const SCHEME_SWITCH = `<button class="site-scheme" type="button" role="switch" hidden aria-label="Dark theme">
    <svg aria-hidden="true" viewBox="0 0 24 24" width="20" height="20"><circle cx="12" cy="12" r="9" fill="none" stroke="currentColor" stroke-width="2" /><path d="M12 3a9 9 0 0 1 0 18z" fill="currentColor" /></svg>
  </button>
  <script>
    {
      const button = document.querySelector(".site-scheme");
      const root = document.documentElement;
      const system = matchMedia("(prefers-color-scheme: dark)");
      const isDark = () =>
        root.dataset.scheme === "dark" || (root.dataset.scheme !== "light" && system.matches);
      const tell = () => button.setAttribute("aria-checked", isDark());
      button.addEventListener("click", () => {
        const dark = !isDark();
        root.dataset.scheme = dark === system.matches ? "auto" : dark ? "dark" : "light";
        tell();
        try {
          localStorage.setItem("vitepress-theme-appearance", root.dataset.scheme);
        } catch {} // The page still has the choice.
      });
      system.addEventListener("change", tell);
      button.hidden = false;
      tell();
    }
  </script>`;
