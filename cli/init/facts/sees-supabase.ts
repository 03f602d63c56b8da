/** Finds out whether an application keeps its data on Supabase, as far as its files show. */
import { join } from "node:path";
import { parseEnv } from "node:util";
import { ENV_FILES } from "../../doctor/database-url.js";
import { isFolder, readText } from "../files/files.js";
import type { Project } from "./project.js";

/**
 * A URL of PostgreSQL with a host of Supabase. Matched by its text, because the passwords of Supabase
 * often have characters that are not allowed in a URL.
 */
const URL_OF_SUPABASE = /^postgres(?:ql)?:\/\/(?:.*@)?(?:[\w-]+\.)*supabase\.com?(?=[:/?#]|$)/;

/**
 * Looks for a package of Supabase, a folder of its command, or the URL of a database. An application with
 * its database elsewhere may have each of these signs, so the steps that follow must do no harm there.
 */
export async function seesSupabase({ root, members }: Project): Promise<boolean> {
  if (members.some(({ packages }) => [...packages].some(isOfSupabase))) return true;
  const folders = new Set([root, ...members.map(({ folder }) => join(root, folder))]);
  for (const folder of folders) {
    if ((await isFolder(folder, "supabase")) || (await hasUrl(folder))) return true;
  }
  return false;
}

const isOfSupabase = (name: string) => name === "supabase" || name.startsWith("@supabase/");

async function hasUrl(folder: string): Promise<boolean> {
  for (const file of ENV_FILES) {
    const text = await readText(folder, file);
    // Node.js 20 reads a comment in the last line as a variable, unless that line ends.
    const values = Object.values(parseEnv(`${text ?? ""}\n`));
    if (values.some((value) => URL_OF_SUPABASE.test(value ?? ""))) return true;
  }
  return false;
}
