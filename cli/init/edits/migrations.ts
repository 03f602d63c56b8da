/** Chooses the file of a migration of Supabase's command: after all other migrations. */
import { isFolder, listFiles } from "../files/files.js";

/** The time in the name of a migration. */
const STAMP = /\/(\d{14})_[^/]*\.sql$/;

const SUPABASE = "supabase/migrations";

/**
 * The file of a new migration of Supabase's command, if the application has the folder of its migrations.
 */
export async function newSupabaseMigration(root: string, now: number): Promise<string | undefined> {
  if (!(await isFolder(root, SUPABASE))) return undefined;
  const files = await listFiles(root, SUPABASE, /\.sql$/);
  return `${SUPABASE}/${stampAfter(files, now)}_rate_limit.sql`;
}

export const isSupabaseMigration = (file: string): boolean => file.startsWith(`${SUPABASE}/`);

/**
 * The time of now, or one after the last migration, if a machine with a clock that is ahead has made the
 * last migration.
 */
function stampAfter(files: readonly string[], now: number): string {
  const stamps = files.flatMap((file) => STAMP.exec(file)?.[1] ?? []);
  const last = stamps.toSorted().at(-1) ?? "";
  const stamp = new Date(now).toISOString().replaceAll(/\D/g, "").slice(0, 14);
  return last < stamp ? stamp : String(Number(last) + 1);
}
