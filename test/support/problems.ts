import type { Page } from "playwright-core";

/** The errors and warnings that a page logs or throws from now on. The list grows. */
export function problemsOf(page: Page): readonly string[] {
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  return problems;
}
