/** The playground, as a page of the site. */
import Playground from "../../../example-app/playground/page.js";
import { show } from "../show.js";

// In the demo, the address names the part that is shown, and then the numbers of a limit.
if (location.hash === "") history.replaceState(null, "", "#playground");

show(<Playground />);
