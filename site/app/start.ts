/** The first page of the site: the question, and below it the demo, which loads when it comes near the view. */
import "../../example-app/shared/page/styles.css";
import "../../example-app/shared/page/outcomes.css";
// The claim of the overview is in the HTML, and looks the same before and after the rest comes.
import "../../example-app/overview/page.css";
import "./site.css";
import "./start.css";
import { startQuestion } from "./count/count.js";

/** How far below the view the demo loads. It takes about a second on a slow phone. */
const NEAR = "300px";

startQuestion();

const observer = new IntersectionObserver(
  (entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    observer.disconnect();
    void import("./overview.js").then(({ showOverview }) => showOverview());
  },
  { rootMargin: NEAR },
);
observer.observe(document.getElementById("root")!);
