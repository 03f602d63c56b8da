/**
 * The documentation and the source of the demo, as plain text: for the links of a page that knows no
 * other address of them.
 */
import { readdir, readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
export const FILES = "/files/";

/** Names without a dot at their start, so nothing above the folders, and not the database. */
const FILE = /^(?:docs|example-app)(?:\/[\w-]+)*\/[\w-]+(?:\.[\w-]+)*\.(?:md|tsx?|css)$/;
const FOLDER = /^(?:docs|example-app)(?:\/[\w-]+)*$/;
/** What the system says of a path that leads nowhere. */
const NO_SUCH_FILE = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG"]);

/** Answers with the file or with the list of the folder at a path; 404 for everything else. */
export async function sendFile(path: string, res: ServerResponse): Promise<void> {
  try {
    if (FILE.test(path)) return send(res, "plain", await readFile(join(ROOT, path), "utf8"));
    if (FOLDER.test(path)) return send(res, "html", await listOf(path));
  } catch (error) {
    if (!NO_SUCH_FILE.has((error as NodeJS.ErrnoException).code!)) throw error;
  }
  res.statusCode = 404;
  res.end("Not found");
}

function send(res: ServerResponse, type: "plain" | "html", text: string): void {
  res.setHeader("Content-Type", `text/${type}; charset=utf-8`);
  res.end(text);
}

async function listOf(folder: string): Promise<string> {
  const entries = await readdir(join(ROOT, folder), { withFileTypes: true });
  const names = entries
    .map((entry) => ({ name: entry.name, path: `${folder}/${entry.name}`, isFile: entry.isFile() }))
    .filter(({ path, isFile }) => (isFile ? FILE : FOLDER).test(path))
    .map(({ name, path }) => `<li><a href="${FILES}${path}">${name}</a></li>`);
  return `<!doctype html><html lang="en"><meta charset="utf-8" /><meta name="color-scheme" content="light dark" /><title>${folder}</title><h1>${folder}</h1><ul>${names.join("")}</ul></html>`;
}
