/** The table of the limits in the package of the database. */
import { join } from "node:path";
import { codeOf, matchesInCode } from "../code.js";
import { type DrizzleTable, planDrizzle, tableFileText } from "../drizzle-schema.js";
import { listFiles, readText } from "../files.js";
import { planPrisma } from "../prisma-schema.js";
import type { Storage } from "../storage.js";
import type { Draft } from "./draft.js";
import type { Member } from "./workspace.js";

export interface WorkspaceTable {
  storage: Extract<Storage, { kind: "prisma" | "drizzle" }>;
  /** Whether the database has to be changed. */
  isNew: boolean;
  provider: string | undefined;
  note?: string;
}

export async function addPrismaTable(draft: Draft, member: Member): Promise<WorkspaceTable> {
  const folder = member.folder;
  const prisma = (await planPrisma(join(draft.root, folder)))!;
  const file = `${folder}/${prisma.file}`;
  await put(draft, file, prisma);
  const { model, provider, taken } = prisma;
  return {
    storage: { kind: "prisma", model },
    isNew: (prisma.change ?? prisma.byHand) !== undefined,
    provider,
    ...(taken && { note: `There is ${taken}, so the model of the limits is ${model}.` }),
  };
}

/** `undefined` if `init` cannot tell where the table goes, which it then has said. */
export async function addDrizzleTable(
  draft: Draft,
  member: Member,
): Promise<WorkspaceTable | undefined> {
  const root = join(draft.root, member.folder);
  const drizzle = (await planDrizzle(root, member.packages))!;
  const named = drizzle.table?.file ?? drizzle.byHand?.file;
  const text = named === undefined ? undefined : await readText(root, named);
  if (drizzle.table === undefined && text !== undefined && isBarrel(text)) {
    const added = await addBesideBarrel(draft, member, named!, text);
    if (added !== undefined) return added;
  }
  const file = `${member.folder}/${named ?? "drizzle.config.ts"}`;
  await put(draft, file, drizzle);
  if (drizzle.table === undefined) return undefined;
  const table = { name: drizzle.table.name, file };
  return { storage: { kind: "drizzle", table }, isNew: true, provider: undefined };
}

async function put(
  draft: Draft,
  file: string,
  { change, byHand }: Pick<DrizzleTable, "change" | "byHand">,
): Promise<void> {
  if (byHand) {
    draft.byHand(file, byHand.why, byHand.lines);
    draft.stop(file);
  } else if (change === undefined) draft.seen(file);
  else if (change.before === undefined) await draft.create(file, change.after);
  else await draft.need({ file, edit: () => change.after, lines: change.after });
}

/** A file that only exports what others have. */
function isBarrel(text: string): boolean {
  const rest = text.replace(EXPORT_ALL, "").replace(/^export \{\s*\};?$/m, "");
  return text.match(EXPORT_ALL) !== null && codeOf(rest).trim() === "";
}

const EXPORT_ALL = /^export \* from\s*["']\.\/[^"']+["'];?[ \t]*$/gm;
const CORE = /\bfrom\s*["']drizzle-orm\/(pg|mysql|sqlite)-core["']/;
const OURS = /^export const (\w+) = \w+\(\s*["'][^"']+["'],(?:(?!^export)[\s\S])*?\bshard\s*:/m;

/** The table gets a file of its own beside those that the barrel exports. */
async function addBesideBarrel(
  draft: Draft,
  { folder }: Member,
  barrel: string,
  text: string,
): Promise<WorkspaceTable | undefined> {
  const place = barrel.replace(/[^/]*$/, "");
  const files = await listFiles(draft.root, `${folder}/${place}`.replace(/\/$/, ""), /\.tsx?$/);
  const texts = new Map<string, string>();
  for (const file of files) texts.set(file, (await readText(draft.root, file)) ?? "");
  for (const [file, each] of texts) {
    const name = matchesInCode(each, OURS)[0]?.[1];
    if (name === undefined) continue;
    draft.seen(file);
    return {
      storage: { kind: "drizzle", table: { name, file } },
      isNew: false,
      provider: undefined,
    };
  }
  const model = [...texts.values()].find((each) => CORE.test(each));
  const core = CORE.exec(model ?? "")?.[1] as "pg" | "mysql" | "sqlite" | undefined;
  if (model === undefined || core === undefined) return undefined;
  const isTaken = [...texts.values()].some((each) => /\b(rateLimits|rate_limits)\b/.test(each));
  const { name, text: table } = tableFileText(core, isTaken, model);
  const file = `${folder}/${place}rate-limit.ts`;
  if (!(await draft.create(file, table))) return undefined;
  const [line] = text.match(EXPORT_ALL)!.slice(-1);
  const ending = /\.(js|ts)["']/.exec(line!)?.[0].slice(0, -1) ?? "";
  const added = line!.replace(
    /["'][^"']+["']/,
    (quoted) => `${quoted[0]}./rate-limit${ending}${quoted[0]}`,
  );
  await draft.need({
    file: `${folder}/${barrel}`,
    edit: (before) => before.replace(line!, () => `${line!}\n${added}`),
    lines: added,
  });
  return { storage: { kind: "drizzle", table: { name, file } }, isNew: true, provider: undefined };
}
