/** Where a migration of the application goes: into the folder of its tool, after all others. */
import { isFolder, listFiles, readText } from "./files.js";

/** The time in the name of a migration, as the tools of Prisma and Supabase write it. */
const STAMP = /(?:^|\/)(\d{14})_[^/]*(?:\/migration)?\.sql$/;

/**
 * The file of a new migration of Prisma. `undefined` where the application has none yet, or has them in
 * several folders: those who only push their schema would have a migration that Prisma never runs.
 *
 * @param folder of the package, relative to the root.
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

/** The file of a new migration of Supabase's command, if the application has its folder. */
export async function newSupabaseMigration(root: string, now: number): Promise<string | undefined> {
  if (!(await isFolder(root, SUPABASE))) return undefined;
  const files = await listFiles(root, SUPABASE, /\.sql$/);
  return `${SUPABASE}/${stampAfter(files, now)}_rate_limit.sql`;
}

export const isSupabaseMigration = (file: string): boolean => file.startsWith(`${SUPABASE}/`);

/** Now, or after the last migration, which may be of a machine whose clock is ahead. */
function stampAfter(files: readonly string[], now: number): string {
  const stamps = files.flatMap((file) => STAMP.exec(file)?.[1] ?? []);
  const last = stamps.toSorted().at(-1) ?? "";
  const stamp = new Date(now).toISOString().replaceAll(/\D/g, "").slice(0, 14);
  return last < stamp ? stamp : String(Number(last) + 1);
}
