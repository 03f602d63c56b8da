/** The longest line of a T3 app. */
const WIDTH = 80;

/** An import, with two spaces per level, as prettier formats it. */
export function importText(from: string, names: readonly string[]): string {
  const line = `import { ${names.join(", ")} } from "${from}";`;
  if (line.length <= WIDTH) return line;
  return `import {\n${names.map((name) => `  ${name},\n`).join("")}} from "${from}";`;
}
