/** The playground, as a page of the site. */
import Playground from "../../../example-app/playground/page.js";
import { show } from "../show.js";

// In the demo, the address says which part is shown, and the numbers of a limit stand behind that.
if (location.hash === "") history.replaceState(null, "", "#playground");

show(<Playground />);
