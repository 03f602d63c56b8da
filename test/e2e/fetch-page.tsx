/** Hydrates the page in the browser. */
import { hydrateRoot } from "react-dom/client";
import { createPage, visitOf } from "./fetch-page.shared.js";

const Page = createPage(visitOf(new URLSearchParams(location.search)));
hydrateRoot(document.getElementById("root")!, <Page />);
