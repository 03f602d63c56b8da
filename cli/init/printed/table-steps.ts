/** The steps that change the database, by the scripts of the application whose texts say so. */
import { envFileToLoad } from "../../doctor/database-url.js";
import { commandOf } from "../../table-sql.js";
import type { AddedTable } from "../edits/added-table.js";
import { isSupabaseMigration } from "../edits/migrations.js";
import { collationSql } from "../edits/prisma-table.js";
import type { DatabaseFacts } from "../facts/database.js";
import type { Member } from "../facts/member.js";
import { RUNNERS } from "../facts/package-manager.js";
import type { Project } from "../facts/project.js";
import { listFiles } from "../files/files.js";

export async function tableSteps(
  project: Project,
  { storage, member, prisma }: DatabaseFacts,
  table: AddedTable,
): Promise<string[]> {
  if (!table.isNew) return [];
  const run = RUNNERS[project.packageManager];
  if (table.sqlFile !== undefined && "dialect" in storage) {
    const { sqlFile: file } = table;
    // A migration in code needs the application's own tool.
    if (!file.endsWith(".sql")) return [`run the migration ${file}`];
    if (isSupabaseMigration(file)) return [`run the migration ${file}: ${run} supabase db push`];
    const env = await envFileToLoad(project.root);
    return [`make the table: ${commandOf(storage.dialect, file, env)}`];
  }
  const hasMigrations =
    (await listFiles(project.root, member.folder, /^(migration_lock\.toml|_journal\.json)$/))
      .length > 0;
  const commands = { project, member, hasMigrations };
  if (prisma === undefined) return drizzleSteps(commands, table);
  const generate = shown(
    scriptFor(commands, /\bprisma generate\b/) ?? tool(commands, "prisma generate"),
  );
  const migrate = scriptFor(commands, /\bprisma migrate dev\b/);
  const otherwise = tool(commands, "prisma migrate dev --name rate-limit");
  if (prisma.provider === "mysql") {
    const sql = collationSql(prisma.table);
    return [prismaSql(run, "the keys ann and Ann are one bucket", sql), generate];
  }
  if (table.closing !== undefined) {
    const why = "visitors can read and change the limits, by the REST API of Supabase";
    return [prismaSql(run, why, table.closing), generate];
  }
  const push = scriptFor(commands, /\bprisma db push\b/);
  return [pushOr(commands, push, migrate, otherwise), generate];
}

function drizzleSteps(commands: Commands, { closing }: AddedTable): string[] {
  const generate = scriptFor(commands, /\bdrizzle-kit generate\b/);
  const migrate = scriptFor(commands, /\bdrizzle-kit migrate\b/, /(^|:)migrate$/);
  const push = scriptFor(commands, /\bdrizzle-kit push\b/);
  const run = RUNNERS[commands.project.packageManager];
  const otherwise = tool(commands, `drizzle-kit generate && ${run} drizzle-kit migrate`);
  // Without a script, as on D1, migrations run when the Worker is deployed.
  const both = generate && migrate ? joined(generate, migrate) : generate;
  const step = pushOr(commands, push, both, otherwise);
  if (closing === undefined) return [step];
  return [
    step,
    `${run} drizzle-kit generate --custom --name=rate-limit-rights, put these lines into that ` +
      `migration, and run ${run} drizzle-kit migrate. Otherwise visitors keep rights on the tables. ` +
      `(After a push, run them in the database.)\n\n${closing}\n`,
  ];
}

interface Commands {
  project: Project;
  /** The package with the schema. */
  member: Member;
  hasMigrations: boolean;
}

interface Command {
  text: string;
  /** The folder in which it runs; `""` for the root. */
  folder: string;
}

const shown = ({ text, folder }: Command) => (folder === "" ? text : `${text}, in ${folder}`);

const joined = (a: Command, b: Command): Command => ({ ...b, text: `${a.text} && ${b.text}` });

const tool = ({ project, member }: Commands, text: string): Command => ({
  text: `${RUNNERS[project.packageManager]} ${text}`,
  folder: member.folder,
});

/** A database that has migrations gets the table by one. Others push their schema, if they have that. */
function pushOr(
  { hasMigrations }: Commands,
  push: Command | undefined,
  migrate: Command | undefined,
  otherwise: Command,
): string {
  if (hasMigrations || push === undefined) return shown(migrate ?? otherwise);
  return shown(push) + (migrate ? ` (or ${shown(migrate)})` : "");
}

/** Scripts that other steps run, and that do more than their texts say. */
const OTHERS = /^(pre|post|build|dev|start|test|install|vercel)/;
/** Runs a script of a package. */
const WRAPPER = /\bturbo\b|\s(--filter|-F|-w|--workspace|--cwd|-C)[\s=]|\bworkspace\b/;

/** The script of the root, or else of the package with the schema, that runs a command and no other. */
function scriptFor(
  { project, member }: Commands,
  command: RegExp,
  name?: RegExp,
): Command | undefined {
  const { scripts, packageManager } = project;
  const runs = (text: string, depth = 3): boolean => {
    if (/&&|[;|]/.test(text) || depth === 0) return false;
    if (command.test(text.replaceAll(/\s+/g, " "))) return true;
    const words = text.split(/\s+/);
    const own = words.findLast((word) => word in member.scripts);
    if (WRAPPER.test(text) && own !== undefined) return runs(member.scripts[own]!, depth - 1);
    const [, other] = /\brun\s+(?!-)(\S+)$/.exec(text) ?? [];
    return other !== undefined && other in scripts && runs(scripts[other]!, depth - 1);
  };
  for (const [folder, all] of [
    ["", scripts],
    [member.folder, member.scripts],
  ] as const) {
    const names = Object.keys(all).filter((each) => !OTHERS.test(each));
    const found =
      names.find((each) => runs(all[each]!)) ??
      names.find((each) => folder === member.folder && name?.test(each));
    if (found !== undefined) return { text: `${packageManager} run ${found}`, folder };
  }
  return undefined;
}

/** Adds SQL to a migration, because Prisma's schema language has no collations and no rights. */
function prismaSql(run: string, otherwise: string, sql: string): string {
  return (
    `${run} prisma migrate dev --create-only --name rate-limit, put these lines at the end of the ` +
    `migration, and run ${run} prisma migrate dev. Otherwise ${otherwise}. ` +
    `(After a db push, run them in the database.)\n\n${sql}\n`
  );
}
