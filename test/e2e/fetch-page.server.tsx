/** Renders the page on the server, where nothing is known of a limit. */
import { renderToString } from "react-dom/server";
import { createPage, visitOf } from "./fetch-page.shared.js";

export function renderFetchPage(query: URLSearchParams): string {
  const Page = createPage(visitOf(query));
  return renderToString(<Page />);
}
