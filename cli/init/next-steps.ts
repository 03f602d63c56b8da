/** The steps that the author of an application has to take after `init`, with their lines. */
import { envFileToLoad } from "../doctor/database-url.js";
import { commandOf } from "../table-sql.js";
import type { AddedTable } from "./add-table.js";
import { indented } from "./code/code.js";
import { codeStyleOf, inStyle } from "./code/code-style.js";
import { importText } from "./code/imports.js";
import { handlerStep } from "./handler-step.js";
import { inFolder, sourceWith, specifierInside } from "./member.js";
import { isSupabaseMigration } from "./migrations.js";
import { collationSql, tableOf } from "./prisma-schema.js";
import type { Project } from "./project.js";
import { isNative, type WiredClient } from "./wire-client.js";
import { handlersOf } from "./wire-server.js";

export interface NextSteps {
  project: Project;
  table: AddedTable;
  limits: string;
  client: WiredClient | undefined;
}

export async function nextSteps(options: NextSteps): Promise<string[]> {
  const { project, limits } = options;
  const usage =
    project.trpcFile === undefined
      ? handlerStep(project, limits)
      : [procedureStep(options), countdownStep(options)];
  return [...(await tableSteps(options)), ...usage, ...proofSteps(options)];
}

async function tableSteps({ project, table }: NextSteps): Promise<string[]> {
  if (!table.isNew) return [];
  const { root, db, packageManager, scripts } = project;
  const run = (script: string) => `${packageManager} run ${script}`;
  if (table.sqlFile !== undefined && "dialect" in table.storage) {
    const { sqlFile: file } = table;
    // A migration in code needs the application's own tool.
    if (!file.endsWith(".sql")) return [`run the migration ${file}`];
    if (isSupabaseMigration(file)) return [`run the migration ${file}: npx supabase db push`];
    const { dialect } = table.storage;
    return [`make the table: ${commandOf(dialect, file, await envFileToLoad(root))}`];
  }
  const folder = db?.member.folder ?? "";
  const inIt = (command: string) => (folder === "" ? command : `${command}, in ${folder}`);
  if (table.storage.kind === "prisma") {
    const isGenerator = folder !== "" && scripts.has("db:generate");
    const generate = isGenerator ? run("db:generate") : inIt("npx prisma generate");
    if (table.provider === "mysql") return [mysqlStep(tableOf(table.storage.model)), generate];
    if (table.closing !== undefined) return [closingStep(table.closing), generate];
    if (table.migration !== undefined) {
      return [`run the migration ${table.migration}: ${inIt("npx prisma migrate dev")}`, generate];
    }
    return [prismaStep(project, inIt("npx prisma migrate dev --name rate-limit")), generate];
  }
  const step = drizzleStep(project, inIt("npx drizzle-kit generate && npx drizzle-kit migrate"));
  return table.closing === undefined ? [step] : [step, drizzleClosingStep(table.closing)];
}

/**
 * In a monorepo, the script `db:generate` generates the client. In create-t3-app, the script
 * `db:generate` migrates.
 */
function prismaStep({ scripts, db, packageManager }: Project, otherwise: string): string {
  const run = (script: string) => `${packageManager} run ${script}`;
  const push = scripts.has("db:push") ? run("db:push") : undefined;
  const name = db?.member.folder === "" ? "db:generate" : "db:migrate";
  const migrate = scripts.has(name) ? run(name) : undefined;
  if (db?.member.folder === "") {
    return push ? `${migrate ?? otherwise} (or ${push})` : (migrate ?? otherwise);
  }
  return push ? `${push}${migrate ? ` (or ${migrate})` : ""}` : otherwise;
}

function drizzleStep({ scripts, db, packageManager }: Project, otherwise: string): string {
  const run = (script: string) => `${packageManager} run ${script}`;
  const generates = scripts.has("db:generate");
  if (db?.member.folder === "") {
    const migrate = generates ? run("db:generate") : otherwise;
    return scripts.has("db:push") ? `${migrate} (or ${run("db:push")})` : migrate;
  }
  // Without `db:push`, as on D1, migrations run when the Worker is deployed.
  if (!scripts.has("db:push")) return generates ? run("db:generate") : otherwise;
  const isBoth = generates && scripts.has("db:migrate");
  return run("db:push") + (isBoth ? ` (or ${run("db:generate")} && ${run("db:migrate")})` : "");
}

/** Adds the collation by SQL, because Prisma's schema language has no collations. */
function mysqlStep(table: string): string {
  return withSql("the keys ann and Ann are one bucket", collationSql(table));
}

/** Takes the rights by SQL, because Prisma's schema language has no rights. */
function closingStep(closing: string): string {
  return withSql("visitors can read and change the limits, by the REST API of Supabase", closing);
}

function withSql(otherwise: string, sql: string): string {
  return (
    "npx prisma migrate dev --create-only --name rate-limit, put these lines at the end of the " +
    `migration, and run npx prisma migrate dev. Otherwise ${otherwise}. ` +
    `(After a db push, run them in the database.)\n\n${sql}\n`
  );
}

function drizzleClosingStep(closing: string): string {
  return (
    "npx drizzle-kit generate --custom --name=rate-limit-rights, put these lines into that " +
    "migration, and run npx drizzle-kit migrate. Otherwise visitors keep rights on the tables. " +
    `(After a push, run them in the database.)\n\n${closing}\n`
  );
}

function procedureStep({ project, limits, client }: NextSteps): string {
  const { api, trpcFile } = project;
  const text = api.sources.get(trpcFile!) ?? "";
  const routers = sourceWith(api, /\.mutation\(/);
  const place = routers === undefined ? "" : `, such as one in ${routers}`;
  const link = client === undefined ? "" : `, and name it to the link in ${client.links}`;
  const names = ["publicProcedure", "rateLimited"];
  const from = routers === undefined || routers === trpcFile ? undefined : routers;
  const imports = from ? `${importText(specifierInside(api, from, trpcFile!), names)}\n\n` : "";
  const procedure = /\bpublicProcedure\b/.test(text) ? "publicProcedure" : "t.procedure";
  const named = `\n\nrateLimitLink<AppRouter>({ limits: { "post.create": "createPost" } }),`;
  return withLines(
    `limit a procedure${place}, with rateLimited of ${trpcFile} and the limits of ${limits}${link}`,
    `${procedure === "publicProcedure" ? imports : ""}create: ${procedure}
  .input(…)
  .use(rateLimited("createPost")) // after the input, so that invalid input costs nothing
  .mutation(…),${client === undefined ? "" : named}`,
    text,
  );
}

/** The code of a component that shows the wait. */
const COUNTDOWN = `const { status } = useRateLimit("createPost");

<button disabled={status?.ok === false}>
  {status?.ok === false ? (
    <>
      <span>Wait </span>
      <RateLimitCountdown retryAt={status.retryAt} />
    </>
  ) : (
    "Send"
  )}
</button>`;

/** The same component without HTML, for React Native. */
const NATIVE = `const { status } = useRateLimit("createPost");
const seconds = useCountdown(status?.retryAt);

<Button disabled={seconds > 0} title={seconds > 0 ? \`Wait \${seconds}s\` : "Send"} onPress={…} />`;

function countdownStep({ project, client }: NextSteps): string {
  const web = client?.web ?? project.users.find(({ packages }) => packages.has("react"));
  if (web === undefined) {
    return "show the countdown in the client: docs/countdown.md of trpc-rate-limit, or docs/without-react.md";
  }
  const names = [isNative(web) ? "useCountdown" : "RateLimitCountdown", "useRateLimit"];
  const page = [...web.sources.keys()].find(
    (file) =>
      file.endsWith(".tsx") && file !== client?.hooks && /_components|components/.test(file),
  );
  const from = client && specifierInside(web, page ?? inFolder(web, "src/page.tsx"), client.hooks);
  const imports = from === undefined ? "" : `${importText(from, names)}\n\n`;
  return withLines(
    `show the countdown in a component${page === undefined ? "" : `, such as ${page}`}, beside what its button says already`,
    imports + (isNative(web) ? NATIVE : COUNTDOWN),
    client && web.sources.get(client.hooks),
  );
}

/** @param near a text in the style that the lines shall have. */
function withLines(step: string, code: string, near = ""): string {
  return `${step}:\n\n${indented(inStyle(code, codeStyleOf(near)), "  ")}\n`;
}

/** Commands that show that the limits work. */
function proofSteps({ project, table }: NextSteps): string[] {
  if (project.trpcFile !== undefined) {
    return [
      `npx trpc-rate-limit doctor --app ${urlOf(project)}, while the application runs: it checks ` +
        "the database and the table, and watches a limit",
    ];
  }
  const doctor = "npx trpc-rate-limit doctor, which checks the database and the table";
  const calls =
    'for i in 1 2 3 4; do curl -s -o /dev/null -w "%{http_code}\\n" -X POST ' +
    "http://localhost:3000/posts; done, while the application runs: the last answer is 429";
  return table.storage.kind === "memory" ? [calls] : [doctor, calls];
}

/** The URL of tRPC on this machine, as far as the code shows it. */
function urlOf(project: Project): string {
  const [handler] = handlersOf(project);
  const text = handler?.member.sources.get(handler.file) ?? "";
  const named =
    /\b(?:endpoint|prefix|basePath)\s*:\s*["'`](\/[\w/-]*)["'`]/.exec(text)?.[1] ??
    /\.(?:use|all)\(\s*["'`](\/[\w/-]*?)\/?\*?["'`]\s*,[\s\S]{0,80}?\b(?:trpcServer|createExpressMiddleware)\b/.exec(
      text,
    )?.[1];
  const isPages = /\bcreateNextApiHandler\b/.test(text);
  const path = named ?? (isPages || handler?.member.packages.has("next") ? "/api/trpc" : "");
  const port =
    /\bport\s*:\s*(\d{2,5})\b/.exec(text)?.[1] ??
    /\.listen\(\s*(\d{2,5})\b/.exec(text)?.[1] ??
    "3000";
  return `http://localhost:${port}${path}`;
}
