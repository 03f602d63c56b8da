/** The demo's overview, below the question of the first page. */
import { Overview } from "../../example-app/overview/page.js";
import { show } from "./show.js";

export function showOverview(): void {
  show(<Overview Title="h2" />);
}
