/** A page of the site that sends a project to StackBlitz, so that a plain link opens it in a new tab. */
import type { Address } from "./address.js";
import { escaped, headTagsOf, htmlOf } from "./head-tags.js";
import { ICON } from "./icon.js";
import type { Project } from "./stackblitz.js";

/** The address of the page, from the site's base. */
export const routeOfProject = ({ name }: Project) => `open/${name}`;

export function pageOf(project: Project, address: Address): string {
  const { title, files, shown } = project;
  const fields = { "project[title]": title, "project[template]": "node" };
  const texts = Object.entries(files).map(([path, text]) => [`project[files][${path}]`, text]);
  const inputs = [...Object.entries(fields), ...texts].map(
    ([name, value]) => `<input type="hidden" name="${escaped(name!)}" value="${escaped(value!)}">`,
  );
  const description = `${title}. A small application to change, in an editor in the browser.`;
  const route = routeOfProject(project);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <meta name="description" content="${escaped(description)}">
    <link rel="icon" href="${ICON}">
    ${htmlOf(headTagsOf({ title, description, route }, address))}
    <title>${escaped(title)} · trpc-rate-limit</title>
  </head>
  <body>
    <main>
      <h1>${escaped(title)}</h1>
      <form method="post" action="https://stackblitz.com/run?file=${encodeURIComponent(shown)}">
        ${inputs.join("\n        ")}
        <button>Open in StackBlitz</button>
      </form>
    </main>
    <script>document.forms[0].submit();</script>
  </body>
</html>
`;
}
