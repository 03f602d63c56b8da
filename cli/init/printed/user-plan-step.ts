/**
 * The code that `init` prints where the schema has the plans of users: it passes the plans to the
 * limiter. `init` does not write this code.
 */
import { indented } from "../code/code.js";
import { inStyle } from "../code/code-style.js";
import { importedFrom, importText } from "../code/imports.js";
import type { Application } from "../facts/application.js";
import { clientName } from "../facts/find-client.js";
import { findInCode } from "../facts/member.js";
import type { Project } from "../facts/project.js";
import { specifierOfFile } from "../facts/specifiers.js";
import { type IdKind, payerRank, type UserPlan } from "../facts/user-plan.js";

/** The step that passes plans to the limiter. No step where no user, team or the like has a plan. */
export function userPlanSteps({
  project,
  limits: { file: limits },
  database,
}: Application): string[] {
  const { api } = project;
  const { storage, client, plans } = database;
  const found = bestOf(plans);
  if (found === undefined || (storage.kind !== "prisma" && storage.kind !== "drizzle")) return [];
  const { model, field, values, file } = found;
  const imports = storage.kind === "prisma" ? "" : drizzleImports(project, { limits, file, model });
  // The variable of the database is `undefined` until the server has made the database, before the first
  // call.
  const isLate = client.kind === "made" && api.extension === "ts";
  const name = `${clientName(client)}${isLate ? "!" : ""}`;
  const code = imports + codeOf(found, storage.kind, name);
  const named =
    values === undefined ? `, and "free" and "pro" stand for the plans that you have` : "";
  return [
    `give those who pay more, if ${field} of ${model} in ${file} says who they are: in ${limits}, ` +
      `with your numbers${named} (docs/guides/plans.md of trpc-rate-limit has more):\n\n` +
      `${indented(inStyle(code, api.style), "  ")}\n`,
  ];
}

/** The field of the best payer. Of two fields of one model, the field with known values. */
function bestOf(found: readonly UserPlan[]): UserPlan | undefined {
  const order = ({ values, isText }: UserPlan) => (values ? 0 : isText ? 1 : 2);
  return found.toSorted(
    (a, b) => payerRank(a.model) - payerRank(b.model) || order(a) - order(b),
  )[0];
}

function drizzleImports(
  project: Project,
  { limits, file, model }: { limits: string; file: string; model: string },
): string {
  // In a monorepo, the package of the schema may export `eq`, and not Drizzle.
  const from = findInCode(project.api, /\beq\b/, (code) => packageOf(importedFrom(code, "eq")));
  const table = importText(specifierOfFile(project, limits, file), [model]);
  return `${importText(from?.found ?? "drizzle-orm", ["eq"])}\n${table}\n\n`;
}

const packageOf = (from: string | undefined) => (from?.startsWith(".") ? undefined : from);

/** Examples of plans, where the schema does not have the values. */
const EXAMPLES = ["free", "pro"] as const;

const ID_OF: Record<IdKind, (text: string) => string> = {
  text: (text) => text,
  number: (text) => `Number(${text})`,
  bigint: (text) => `BigInt(${text})`,
};

const quoted = (text: string) => JSON.stringify(text);

function codeOf(plan: UserPlan, orm: "drizzle" | "prisma", client: string): string {
  const plans = plan.values ?? EXAMPLES;
  const usual = plan.values?.find((each) => each === plan.usual) ?? plans[0]!;
  const prefix = `${ownerOf(plan).replace(/s$/, "")}:`;
  const id = ID_OF[plan.id.kind](`key.slice(${prefix.length})`);
  return `// In the place of the limit:
  createPost: {
    kind: "token bucket",
    period: MINUTE,
    plans: {
${entriesOf(plans, usual)}
    },
  },

// Among the options of createRateLimiter:
  plans: [${plans.map(quoted).join(", ")}],
  // Asked once a minute for a key such as \`${prefix}\${id}\`. All other keys are ${quoted(usual)}.
  plan: async ({ key = "" }) => {
    if (!key.startsWith(${quoted(prefix)})) return ${quoted(usual)};
    ${READ[orm](plan, client, id)}
    return ${answerOf(plan, usual)};
  },`;
}

const ownerOf = ({ model }: UserPlan) => model.charAt(0).toLowerCase() + model.slice(1);

/**
 * The entries of the plans. The usual plan has the numbers of the limit, the next plan twice as much, and
 * so on.
 */
function entriesOf(plans: readonly string[], usual: string): string {
  const order = [usual, ...plans.filter((each) => each !== usual)];
  const entries = plans.map((each) => {
    const times = order.indexOf(each) + 1;
    const name = /^[a-z_]\w*$/i.test(each) ? each : quoted(each);
    return `      ${name}: { rate: ${10 * times}, capacity: ${3 * times} },`;
  });
  return entries.join("\n");
}

type Read = (plan: UserPlan, client: string, id: string) => string;

const READ: Record<"drizzle" | "prisma", Read> = {
  prisma: (plan, client, id) => `const found = await ${client}.${ownerOf(plan)}.findUnique({
      where: { ${plan.id.field}: ${id} },
      select: { ${plan.field}: true },
    });`,
  drizzle: ({ model, field, id: key }, client, id) => `const [found] = await ${client}
      .select({ ${field}: ${model}.${field} })
      .from(${model})
      .where(eq(${model}.${key.field}, ${id}));`,
};

/**
 * The code that returns the plan of a row. Where the values are not known, a text is compared with "pro",
 * and any other value counts as "pro" if it is there.
 */
function answerOf({ field, values, isText }: UserPlan, usual: string): string {
  if (values !== undefined) return `found?.${field} ?? ${quoted(usual)}`;
  const [, paid] = EXAMPLES;
  const test = isText ? ` === ${quoted(paid)}` : "";
  return `found?.${field}${test} ? ${quoted(paid)} : ${quoted(usual)}`;
}
