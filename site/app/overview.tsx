/** The first page of the site. */
import { Overview } from "../../example-app/overview/page.js";
import { show } from "./show.js";

show(<Overview />);
