import { expect, it } from "vitest";
import { pageOf, routeOfProject } from "../../site/stackblitz-page.js";

const project = {
  name: "a-limit",
  title: "Limits & waits",
  files: { "server/app.ts": `const a = "<b>" && 1;\n`, "package.json": "{}\n" },
  shown: "server/app.ts",
};
const address = { base: "/limits/", repository: undefined, origin: undefined };

it("sends each file under its path, as it is", () => {
  const html = pageOf(project, address);
  const inputs = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)];
  const fields = Object.fromEntries(inputs.map(([, name, value]) => [name, unescaped(value!)]));
  expect(fields).toEqual({
    "project[title]": project.title,
    "project[template]": "node",
    "project[files][server/app.ts]": project.files["server/app.ts"],
    "project[files][package.json]": project.files["package.json"],
  });
  expect(html).toContain('method="post" action="https://stackblitz.com/run?file=server%2Fapp.ts"');
  expect(routeOfProject(project)).toBe("open/a-limit");
});

it("has a button, for readers without JavaScript", () => {
  expect(pageOf(project, address)).toContain("<button>Open in StackBlitz</button>");
});

const unescaped = (text: string) =>
  text.replaceAll("&lt;", "<").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
