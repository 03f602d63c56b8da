import { describe, expect, it } from "vitest";
import { inAllManagers } from "../../site/package-managers.js";

const shown = (text: string) => {
  const found = inAllManagers(text.split("\n"));
  return found && Object.values(found).map((lines) => lines.join("\n"));
};

describe("commands of npm", () => {
  it.each([
    ["npm install a b@7", "pnpm add a b@7", "yarn add a b@7", "bun add a b@7"],
    ["npm i -D a", "pnpm add -D a", "yarn add -D a", "bun add -d a"],
    ["npm add --save-dev a", "pnpm add --save-dev a", "yarn add --dev a", "bun add --dev a"],
    ["npm install a -E", "pnpm add a -E", "yarn add a -E", "bun add a -E"],
    ["npm install", "pnpm install", "yarn install", "bun install"],
    ["npx vite --port 1", "pnpm exec vite --port 1", "yarn vite --port 1", "bunx vite --port 1"],
    [
      "npx trpc-rate-limit init",
      "pnpm dlx trpc-rate-limit init",
      "yarn dlx trpc-rate-limit init",
      "bunx trpc-rate-limit init",
    ],
    ["npx --yes prisma@7 x", "pnpm dlx prisma@7 x", "yarn dlx prisma@7 x", "bunx prisma@7 x"],
    ["A=--b npx jest", "A=--b pnpm exec jest", "A=--b yarn jest", "A=--b bunx jest"],
    [
      "mkdir a && cd a\n# Then:\nnpm init --yes && npm pkg set type=module\nnpm i a && npx b",
      "mkdir a && cd a\n# Then:\nnpm init --yes && npm pkg set type=module\npnpm add a && pnpm exec b",
      "mkdir a && cd a\n# Then:\nnpm init --yes && npm pkg set type=module\nyarn add a && yarn b",
      "mkdir a && cd a\n# Then:\nnpm init --yes && npm pkg set type=module\nbun add a && bunx b",
    ],
    [
      "npm i a\nnpm run b -- --c",
      "pnpm add a\npnpm run b --c",
      "yarn add a\nyarn run b --c",
      "bun add a\nbun run b --c",
    ],
  ])("have words of the others: %s", (npm, ...others) => {
    expect(shown(npm)).toEqual([npm, ...others]);
  });

  it.each([
    ["a clone of the repository, which has a lockfile of npm", "npm ci\nnpx a"],
    ["scripts of a repository", "npm run bench"],
    ["other programs", "psql --file a.sql"],
    ["a flag that not all have", "npm install --legacy-peer-deps a"],
    ["a global installation", "npm install -g a"],
    ["flags of npx itself", "npx --package a b"],
    ["npx without a command", "npx "],
    ["a command that goes on below", "npm install a \\\n  -D b"],
    ["a command inside of another one", "npm i a\nfor x in 1 2; do npx b; done"],
    ["a command of npm alone", "npm i a\nnpm audit"],
    ["nothing", ""],
    ["a comment alone", "# npm install a"],
  ])("stay as they are: %s", (_title, text) => {
    expect(shown(text)).toBeUndefined();
  });
});
