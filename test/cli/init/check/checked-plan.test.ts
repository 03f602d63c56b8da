/** Plans with mistakes that were planted: what does not compile is taken back, and printed. */
import { readdir } from "node:fs/promises";
import { describe, expect, it, vi } from "vitest";
import { checkedPlan } from "../../../../cli/init/check/checked-plan.js";
import { Draft } from "../../../../cli/init/draft.js";
import { readProject } from "../../../../cli/init/facts/project.js";
import {
  checkSteps,
  COMPILERS,
  makeInstalled,
  replacing,
  type Step,
} from "../../../support/check-plan.js";
import { makeFolder } from "../../../support/scaffold.js";

const SETTINGS = `{
  // Comments are allowed here.
  "compilerOptions": {
    "target": "es2022",
    "lib": ["es2022"],
    "module": "preserve",
    "strict": true,
    "skipLibCheck": true,
    "types": [],
  },
  "include": ["src"],
}
`;
const FILES = {
  "package.json": `{ "name": "app", "type": "module", "dependencies": { "hono": "*", "drizzle-orm": "*", "trpc-rate-limit": "*" } }\n`,
  "tsconfig.json": SETTINGS,
  "src/context.ts": `export interface Context {
  user: string;
}

const request = { headers: { host: "here" }, url: "/" };

export const createContext = async () => {
  const made: Context = {
    user: request.headers.host.toUpperCase(),
  };
  return made;
};
`,
  "src/other.ts": `import type { Context } from "./context";

export const forTests = (): Context => ({ user: "ann" });
`,
  "src/database.ts": `const db = { name: "the client" };

export function deleteEverything(): void {
  db.name = "";
}
`,
};
const LIMITS = `import { drizzleStore } from "trpc-rate-limit/drizzle";
import { createRateLimiter, SECOND } from "trpc-rate-limit/server";
import { deleteEverything } from "./database";

export const limiter = createRateLimiter({
  store: drizzleStore(deleteEverything()),
  limits: { a: { kind: "fixed window", rate: 1, period: SECOND } },
});
`;

interface Planted {
  title: string;
  steps: Step[];
  /** The files of the edits that are right. */
  stays: string[];
  file: string;
  why: RegExp;
}

const RIGHT = replacing("src/other.ts", '"ann"', '"bob"');

const PLANTED: Planted[] = [
  {
    title: "an import of a module that is not there",
    steps: [
      replacing("src/database.ts", '"the client"', '"a client"'),
      replacing(
        "src/other.ts",
        "import type",
        'import { getConnInfo } from "hono/node-server/conninfo";\n\nexport const info = getConnInfo;\nimport type',
      ),
    ],
    stays: ["src/database.ts"],
    file: "src/other.ts",
    why: /^tsc of this application says: TS2307 .*'hono\/node-server\/conninfo'[^\n]*$/,
  },
  {
    title: "a function that is no database",
    steps: [{ file: "src/limits.ts", text: LIMITS }, RIGHT],
    stays: ["src/other.ts"],
    file: "src/limits.ts",
    why: /says: TS2345 Argument of type 'void'/,
  },
  {
    title: "a field that another maker of the context does not have",
    steps: [
      replacing("src/database.ts", '"the client"', '"a client"'),
      replacing("src/context.ts", "  user: string;", "  address: string;\n  user: string;"),
      replacing("src/context.ts", "    user: request", '    address: "::1",\n    user: request'),
    ],
    stays: ["src/database.ts"],
    file: "src/context.ts",
    why: /says: TS2741 Property 'address' is missing .*, in src\/other\.ts$/,
  },
  {
    title: "a parameter that hides a constant of another type",
    steps: [
      replacing(
        "src/context.ts",
        "async () =>",
        "async (request: { headers: Map<string, string> }) =>",
      ),
      RIGHT,
    ],
    stays: ["src/other.ts"],
    file: "src/context.ts",
    why: /says: TS2339 Property 'host' does not exist/,
  },
];

const PACKAGES = ["hono", "drizzle-orm"];
const [NEWEST, ...OLDER] = COMPILERS.map(({ compiler }) => compiler);

async function expectTakenBack({ steps, stays, file, why }: Planted, compiler = NEWEST) {
  await using app = await makeInstalled(FILES, PACKAGES, compiler);
  const { changes, byHand, notes } = await checkSteps(app.root, steps);
  expect(changes.map((change) => change.file)).toEqual(stays);
  const refused = steps.filter((step) => step.file === file);
  expect(byHand).toEqual(
    refused.map((step) => ({
      file,
      why: expect.stringMatching(why) as string,
      lines: "text" in step ? step.text : step.lines,
    })),
  );
  expect(notes).toEqual([`tsc: no new error without the edits of ${file}.`]);
}

const long = { timeout: 120_000 };

it.each(PLANTED)("$title is taken back", long, (planted) => expectTakenBack(planted));

it.skipIf(OLDER.length === 0)("an older compiler finds mistakes, too", long, async () => {
  await expectTakenBack(PLANTED[2]!, OLDER[0]);
});

it.skipIf(OLDER.length === 0)("settings that find no exports are named", long, async () => {
  const settings = SETTINGS.replace("preserve", "esnext").replace(
    '"strict"',
    '"moduleResolution": "node",\n    "strict"',
  );
  await using app = await makeInstalled({ ...FILES, "tsconfig.json": settings }, [], OLDER[0]);
  const text = `import { memoryStore } from "trpc-rate-limit/server";\n\nmemoryStore();\n`;
  const { byHand } = await checkSteps(app.root, [{ file: "src/limits.ts", text }]);
  expect(byHand).toMatchObject([
    { why: expect.stringContaining('set "moduleResolution" of tsconfig.json to "bundler"') },
  ]);
});

it("what is right is left as it is", long, async () => {
  await using app = await makeInstalled(FILES, []);
  const plan = await checkSteps(app.root, [RIGHT]);
  expect(plan).toMatchObject({
    changes: [{ file: "src/other.ts" }],
    byHand: [],
    notes: ["tsc: no new error."],
    printed: "Checking with tsc…\n",
  });
  expect(await app.read("src/other.ts")).toBe(FILES["src/other.ts"]);
});

it("errors that were there before are nobody's, even with another message", long, async () => {
  const old = `import { settings } from "./settings";

export const missing: string = 1;
export const made: number = settings;
`;
  const files = { "src/old.ts": old, "src/settings.ts": "export const settings = { a: 1 };\n" };
  await using app = await makeInstalled({ ...FILES, ...files }, []);
  const plan = await checkSteps(app.root, [
    replacing("src/old.ts", "export const missing", "\nexport const missing"),
    replacing("src/settings.ts", "a: 1", "a: 1, b: 2"),
  ]);
  expect(plan).toMatchObject({ byHand: [], notes: ["tsc: no new error."] });
  expect(plan.changes).toHaveLength(2);
});

it("edits that only together are wrong are all left to the author", long, async () => {
  const files = {
    ...FILES,
    "src/a.ts": "export const a = 1;\n",
    "src/b.ts": "export const b = 1;\n",
    "src/user.ts": `import { a } from "./a";
import { b } from "./b";

export const either: 1 = (Math.random() > 0.5 ? a : b) as typeof a | typeof b;
`,
  };
  await using app = await makeInstalled(files, []);
  const plan = await checkSteps(app.root, [
    replacing("src/a.ts", "1", "2"),
    replacing("src/b.ts", "1", "2"),
    RIGHT,
  ]);
  expect(plan.changes).toEqual([]);
  expect(plan.byHand.map(({ file, why }) => [file, why.slice(0, 43)])).toEqual(
    ["src/a.ts", "src/b.ts", "src/other.ts"].map((file) => [
      file,
      "tsc of this application says: TS2322 Type '",
    ]),
  );
});

it("steps that need an edit that was taken back are printed", long, async () => {
  await using app = await makeInstalled(FILES, []);
  const project = await readProject(app.root);
  const plan = await checkedPlan({
    project,
    async make(whyRefused) {
      const draft = new Draft(app.root, whyRefused);
      await draft.need(replacing("src/database.ts", '"the client"', "1"));
      await draft.edit(RIGHT);
      return draft.plan();
    },
    print() {},
  });
  expect(plan.changes).toEqual([]);
  expect(plan.byHand).toMatchObject([
    { file: "src/database.ts", why: expect.stringContaining("TS2322") },
    { file: "src/other.ts", why: "it comes after src/database.ts" },
  ]);
});

it("a file with the line ends of Windows is blamed like any other", long, async () => {
  const files = { ...FILES, "src/database.ts": FILES["src/database.ts"].replaceAll("\n", "\r\n") };
  await using app = await makeInstalled(files, []);
  const plan = await checkSteps(app.root, [
    replacing("src/database.ts", 'db.name = "";', 'db.name = "";\n  db.name = 1;'),
    RIGHT,
  ]);
  expect(plan.changes.map(({ file }) => file)).toEqual(["src/other.ts"]);
  expect(await app.readAll()).toEqual(files);
});

/** A compiler that starts another process, as TypeScript 7 does. Neither of them ends. */
const HANGING = {
  "node_modules/typescript/package.json": `{ "type": "module", "bin": { "tsc": "tsc.js" } }`,
  "node_modules/typescript/tsc.js": `import { spawn } from "node:child_process";
const hang = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)";
spawn(process.execPath, ["-e", hang], { stdio: "inherit" });
`,
};

describe("an application that cannot be compiled", () => {
  it("without typescript has a note", async () => {
    await using app = await makeFolder(FILES);
    const { changes, notes, printed } = await checkSteps(app.root, [RIGHT]);
    expect({ count: changes.length, notes, printed }).toEqual({
      count: 1,
      notes: ["Not checked by tsc, because typescript is not installed here."],
      printed: "",
    });
  });

  it("without tsconfig.json has a note", async () => {
    const { "tsconfig.json": _, ...files } = FILES;
    await using app = await makeFolder(files);
    const { notes } = await checkSteps(app.root, [RIGHT]);
    expect(notes).toEqual(["Not checked by tsc: there is no tsconfig.json."]);
  });

  it("in JavaScript has no note", async () => {
    await using app = await makeFolder({
      "package.json": FILES["package.json"],
      "a.js": "export const a = 1;\n",
    });
    const { changes, notes, printed } = await checkSteps(app.root, [
      replacing("a.js", "1", '"" * 2'),
    ]);
    expect({ count: changes.length, notes, printed }).toEqual({ count: 1, notes: [], printed: "" });
  });

  it("because of its settings has a note with the error", long, async () => {
    const settings = SETTINGS.replace('"preserve"', '"nothing"');
    await using app = await makeInstalled({ ...FILES, "tsconfig.json": settings }, []);
    const { changes, notes } = await checkSteps(app.root, [RIGHT]);
    expect(changes).toHaveLength(1);
    expect(notes).toEqual([
      expect.stringMatching(/^Not checked by tsc, because it says: TS6046 Argument for '--module'/),
    ]);
  });

  it("in time has a note, and leaves nothing behind", long, async () => {
    await using temporary = await makeFolder({});
    await using app = await makeFolder({ ...FILES, ...HANGING });
    vi.stubEnv("TMPDIR", temporary.root);
    const { changes, notes } = await checkSteps(app.root, [RIGHT], 1000);
    vi.unstubAllEnvs();
    expect(changes).toHaveLength(1);
    expect(notes).toEqual(["Not checked by tsc, because it took longer than 1 s."]);
    expect(await readdir(temporary.root)).toEqual([]);
  });
});

it("a file that no project has is named", long, async () => {
  await using app = await makeInstalled({ ...FILES, "scripts/a.ts": "export const a = 1;\n" }, []);
  const plan = await checkSteps(app.root, [RIGHT, replacing("scripts/a.ts", "1", "2")]);
  expect(plan.notes).toEqual([
    "tsc: no new error. Not checked: scripts/a.ts, in no tsconfig.json.",
  ]);
});
