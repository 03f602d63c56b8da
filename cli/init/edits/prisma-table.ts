/** The text of the models of the limits, for a schema of Prisma. */
import { MAX_RULE, overridesName } from "../../../server/store/override-table.js";
import type { PrismaTable } from "../facts/prisma-table.js";

/**
 * The length of a name or a key on MySQL. With the default length of Prisma, 191, MySQL could cut off a
 * key that is too long for the limiter.
 */
const LENGTH = 192;

const COLLATION = `/// Its migration needs a binary collation for name and key; see docs/cli.md of trpc-rate-limit.
`;

export function modelText({ model, table, provider, inSchema, unit }: PrismaTable): string {
  const text = (length: number) => (provider === "mysql" ? ` @db.VarChar(${length})` : "");
  const block = (name: string, map: string, fields: string, key: string) => {
    const mapped = name === map ? "" : `\n  @@map("${map}")`;
    const placed = inSchema === undefined ? "" : `\n  @@schema("${inSchema}")`;
    return `model ${name} {
  name  String${text(LENGTH)}
  key   String @default("")${text(LENGTH)}
${fields}

  @@id([${key}])${mapped}${placed}
}
`;
  };
  const limits = `  shard Int    @default(0)
  used  Float
  ts    Float`;
  const overrides = `  rule  String${text(MAX_RULE)}
  until Float
  setAt Float`;
  return `/// The limits of trpc-rate-limit: how much one key had used of one limit, at one instant.
${provider === "mysql" ? COLLATION : ""}${block(model, table, limits, "name, key, shard")}
/// What counts instead of a limit, for one key or for all of them; see \`overrides\` of trpc-rate-limit.
${block(overridesName(model), overridesName(table), overrides, "name, key")}`.replaceAll(
    /^ {2}/gm,
    unit,
  );
}

/** The SQL that MySQL's migration needs, and that Prisma's schema language cannot express. */
export function collationSql(table: string): string {
  const type = `VARCHAR(${LENGTH}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL`;
  return [table, overridesName(table)]
    .flatMap((each) => [
      `ALTER TABLE \`${each}\``,
      `    MODIFY \`name\` ${type},`,
      `    MODIFY \`key\` ${type} DEFAULT '';`,
    ])
    .join("\n");
}
