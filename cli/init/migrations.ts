/**
 * Chooses the file of a migration of the application: in the folder of its tool, after all other
 * migrations.
 */
import { isFolder, listFiles, readText } from "./files.js";

/** The time in the name of a migration, as the tools of Prisma and Supabase write it. */
const STAMP = /(?:^|\/)(\d{14})_[^/]*(?:\/migration)?\.sql$/;

/**
 * The file of a new migration of Prisma. `undefined` where the application has no migrations yet, or has
 * migrations in several folders. An application that only pushes its schema would never run a migration.
 *
 * @param folder the folder of the package, relative to the root.
 * @param now epoch ms.
 */
export async function newPrismaMigration(
  root: string,
  folder: string,
  now: number,
): Promise<string | undefined> {
  const locks = await listFiles(root, folder, /^migration_lock\.toml$/);
  const [lock, ...others] = locks;
  if (lock === undefined || others.length > 0) return undefined;
  const text = (await readText(root, lock)) ?? "";
  if (!/^\s*provider\s*=\s*"postgresql"/m.test(text)) return undefined;
  const place = lock.slice(0, lock.lastIndexOf("/"));
  const files = await listFiles(root, place, /^migration\.sql$/);
  return `${place}/${stampAfter(files, now)}_rate_limit/migration.sql`;
}

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
