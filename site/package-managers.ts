/**
 * Commands of npm in the words of pnpm, Yarn 4 and Bun. A block with a command that has no such words
 * stays a block for npm alone: a wrong command is worse than none.
 */

export const MANAGERS = ["npm", "pnpm", "yarn", "bun"] as const;
type Manager = (typeof MANAGERS)[number];
type Other = Exclude<Manager, "npm">;

const INSTALL: Record<Other, string> = {
  pnpm: "pnpm install",
  yarn: "yarn install",
  bun: "bun install",
};
const ADD: Record<Other, string> = { pnpm: "pnpm add", yarn: "yarn add", bun: "bun add" };
/** Runs a command that is installed in the project. */
const RUN: Record<Other, string> = { pnpm: "pnpm exec", yarn: "yarn", bun: "bunx" };
/** Runs a command that comes from the registry. */
const FETCH: Record<Other, string> = { pnpm: "pnpm dlx", yarn: "yarn dlx", bun: "bunx" };
const SCRIPT: Record<Other, string> = { pnpm: "pnpm run", yarn: "yarn run", bun: "bun run" };

/** The flags of `npm install` that all four managers have. */
const FLAGS: Record<string, Record<Other, string>> = {
  "--save-dev": { pnpm: "--save-dev", yarn: "--dev", bun: "--dev" },
  "-D": { pnpm: "-D", yarn: "-D", bun: "-d" },
  "--save-exact": { pnpm: "--save-exact", yarn: "--exact", bun: "--exact" },
  "-E": { pnpm: "-E", yarn: "-E", bun: "-E" },
};

/** Commands that only write `package.json`. npm comes with Node.js, so users of all managers have it. */
const STAYS = /^npm (?:init|pkg)(?: |$)/;
/** A command that `npx` fetches, because the page runs the command before it is installed. */
const FETCHED = /^(?:trpc-rate-limit|create-[\w-]+|@?[\w./-]+@[\w.^~-]+)$/;
/** Variables before a command, the command, and the words after it. */
const COMMAND = /^((?:[A-Z_]+=\S+ )*)(npm \S+|npx)((?: .*)?)$/;

/**
 * @returns the lines for each manager. `undefined` if the lines install no package and run no command of
 *   a package, or if a command has no equivalent.
 */
export function inAllManagers(
  lines: readonly string[],
): Record<Manager, readonly string[]> | undefined {
  if (
    !lines.some((line) => /(?:^|&& |^(?:[A-Z_]+=\S+ )+)(?:npm (?:i|install|add)\b|npx )/.test(line))
  )
    return undefined;
  const inOther = (manager: Other) => lines.map((line) => lineIn(line, manager));
  const [pnpm, yarn, bun] = [inOther("pnpm"), inOther("yarn"), inOther("bun")];
  if (!isWhole(pnpm) || !isWhole(yarn) || !isWhole(bun)) return undefined;
  return { npm: lines, pnpm, yarn, bun };
}

function isWhole(lines: readonly (string | undefined)[]): lines is readonly string[] {
  return lines.every((line) => line !== undefined);
}

function lineIn(line: string, manager: Other): string | undefined {
  if (/^\s*#/.test(line)) return line;
  const commands = line.split(" && ").map((command) => commandIn(command, manager));
  return isWhole(commands) ? commands.join(" && ") : undefined;
}

function commandIn(command: string, manager: Other): string | undefined {
  if (STAYS.test(command)) return command;
  const [, variables, verb, rest = ""] = COMMAND.exec(command) ?? [];
  // Any other program stays. A program with a command of npm inside has no equivalent here.
  if (verb === undefined) return /\bnp[mx]\b/.test(command) ? undefined : command;
  const words = rest.trim().split(/\s+/).filter(Boolean);
  // The command goes on in the next line.
  if (words.at(-1) === "\\") return undefined;
  const meant = verb === "npx" ? npxIn(words, manager) : npmIn(verb, words, manager);
  return meant === undefined ? undefined : `${variables}${meant}`;
}

function npxIn(words: readonly string[], manager: Other): string | undefined {
  const [name, ...others] = words.filter((word, i) => i > 0 || !/^(?:-y|--yes)$/.test(word));
  if (name === undefined || name.startsWith("-")) return undefined;
  const how = FETCHED.test(name) ? FETCH : RUN;
  return [how[manager], name, ...others].join(" ");
}

function npmIn(verb: string, words: readonly string[], manager: Other): string | undefined {
  if (/^npm (?:i|install|add)$/.test(verb)) {
    if (words.length === 0) return INSTALL[manager];
    const meant = words.map((word) => (word.startsWith("-") ? FLAGS[word]?.[manager] : word));
    return isWhole(meant) ? [ADD[manager], ...meant].join(" ") : undefined;
  }
  // `--` tells npm which words are the script's. The other managers pass on all words.
  if (verb === "npm run" && words.length > 0 && !words[0]!.startsWith("-"))
    return [SCRIPT[manager], ...words.filter((word) => word !== "--")].join(" ");
  return undefined;
}
