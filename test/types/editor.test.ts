/**
 * The texts that an editor shows to people who write a config. The test asks the language service of
 * TypeScript 5, which most editors run. TypeScript 7 does not have it as a module.
 */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";

const require = createRequire(import.meta.url);
// A dependency of a dependency brings it.
const ts = createRequire(
  createRequire(require.resolve("@arethetypeswrong/cli/package.json")).resolve(
    "@arethetypeswrong/core",
  ),
)("typescript") as TypeScript;
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const FILE = fileURLToPath(new URL("editor-example.ts", import.meta.url));
const MISSPELT_FILE = fileURLToPath(new URL("editor-misspelt.ts", import.meta.url));
const REFUSED_FILE = fileURLToPath(new URL("editor-refused.ts", import.meta.url));

const CODE = `import { createRateLimiter, type LimitConfigs, memoryStore } from "../../server/index.js";
const limiter = createRateLimiter({
  store: memoryStore(),
  limits: {
    bucket: { kind: "token bucket", rate: 1, period: 10, capacity: 3, blockFor: 4, maxReserved: 5, shadow: true, whenStoreFails: "fail" },
    window: { kind: "fixed window", rate: 1, period: 10, capacity: 3, start: 0, shards: 2 },
    closing: { kind: "fixed window", rate: 1, period: 10, blockFor: 5, afterBlock: "new window" },
    bought: { kind: "credits" },
    render: { kind: "concurrency", slots: 2 },
  },
});
void limiter.limit("other", {
  config: { kind: "token bucket", rate: 1, period: 10, capacity: 3, blockFor: 4, shards: 1 },
});
export const limits = {
  apart: { kind: "fixed window", rate: 1, period: 10, capacity: 3, shards: 2 },
} satisfies LimitConfigs;
void limiter.limit("", { key: "ada" });
void limiter.acquire("");
void limiter.charge("");
void limiter.refund("");
void limiter.observe("", { remaining: 1 });
void limiter.check("");
void limiter.enter("");
const planned = createRateLimiter({
  store: memoryStore(),
  plans: ["free", "pro"],
  limits: {
    pictures: { kind: "fixed window", period: 10, start: 0, shadow: true, plans: { free: 5, pro: { rate: 50, capacity: 60 } } },
  },
});
void planned.limit("pictures", { key: "ada", plan: "" });
void planned.limitFirst(["pictures"], { key: "ada", plan: "" });
void planned.limitAll([{ name: "pictures", key: "ada", plan: "" }]);
void planned.overrides.set("pictures", { key: "ada", plan: "" });
void planned.plans.pro.pictures.rate;
`;

/** A misspelt name in each verb. */
const CALLS = ["limit", "check", "charge", "reset", "getValue", "acquire", "list", "configOf"];
const MISSPELT = `import { createRateLimiter, type LimitConfigs, memoryStore } from "../../server/index.js";
const limits = { bucket: { kind: "token bucket", rate: 1, period: 10 } } as const;
const limiter = createRateLimiter({ store: memoryStore(), limits });
${CALLS.map((verb) => `void limiter.${verb}("typo", {});`).join("\n")}
void limiter.observe("typo", { remaining: 1 });
createRateLimiter({ store: memoryStore(), limits: { broken: 1 } as unknown as LimitConfigs });
`;

/** What a limit is not for. Each line does not compile. */
const REFUSED = `import { createRateLimiter, memoryStore } from "../../server/index.js";
const limiter = createRateLimiter({
  store: memoryStore(),
  plans: ["free", "pro"],
  limits: {
    bucket: { kind: "token bucket", rate: 1, period: 10 },
    pictures: { kind: "fixed window", period: 10, plans: { free: 5, pro: 50 } },
    jobs: { kind: "concurrency", plans: { free: 1, pro: 2 } },
    credits: { kind: "credits" },
  },
});
void limiter.credit("credits", { key: "ada", count: 1 });
void limiter.enter("jobs", { key: "ada", plan: "pro" });
void limiter.limit("pictures", { key: "ada", plan: "pro" });

void limiter.credit("bucket", { key: "ada", count: 1 });
void limiter.enter("pictures", { key: "ada", plan: "pro" });
void limiter.enter("jobs", { key: "ada" });
void limiter.limit("jobs", { key: "ada", plan: "pro" });
void limiter.limit("pictures", { key: "ada" });
void limiter.limit("pictures", { key: "ada", plan: "por" });
`;

interface Parts {
  displayParts?: readonly { text: string }[];
  documentation?: readonly { text: string }[];
}
interface TypeScript {
  createLanguageService(host: object): {
    getQuickInfoAtPosition(file: string, at: number): Parts | undefined;
    getCompletionsAtPosition(
      file: string,
      at: number,
      options: object,
    ): { entries: readonly { name: string }[] } | undefined;
    getCompletionEntryDetails(file: string, at: number, name: string): Parts | undefined;
    getSemanticDiagnostics(
      file: string,
    ): readonly { messageText: string | object; start: number }[];
  };
  flattenDiagnosticMessageText(text: string | object, newLine: string): string;
  ScriptSnapshot: { fromString(text: string): unknown };
  getDefaultLibFilePath(options: object): string;
  sys: {
    fileExists(path: string): boolean;
    readFile(path: string): string | undefined;
    directoryExists(path: string): boolean;
    getDirectories(path: string): string[];
    readDirectory(path: string): string[];
  };
}

let service: ReturnType<TypeScript["createLanguageService"]>;
beforeAll(() => {
  const own = new Map([
    [FILE, CODE],
    [MISSPELT_FILE, MISSPELT],
    [REFUSED_FILE, REFUSED],
  ]);
  const textOf = (path: string) => own.get(path) ?? ts.sys.readFile(path);
  service = ts.createLanguageService({
    ...ts.sys,
    useCaseSensitiveFileNames: () => true,
    fileExists: (path: string) => own.has(path) || ts.sys.fileExists(path),
    getCompilationSettings: () => ({ strict: true, module: 199, target: 99, types: [] }),
    getScriptFileNames: () => [...own.keys()],
    getScriptVersion: () => "1",
    getScriptSnapshot: (path: string) => ts.ScriptSnapshot.fromString(textOf(path) ?? ""),
    getCurrentDirectory: () => ROOT,
    getDefaultLibFileName: (options: object) => ts.getDefaultLibFilePath(options),
  });
});

const textOf = (parts: Parts | undefined) =>
  (parts?.documentation ?? []).map(({ text }) => text).join("");

/** The options in the object that follows `start`, and where each of them stands. */
function optionsAfter(start: string): [option: string, at: number][] {
  const from = CODE.indexOf(`${start}: {`) + start.length + 2;
  const text = CODE.slice(from, CODE.indexOf("}", from));
  return [...text.matchAll(/(\w+):/g)].map(({ 1: option, index }) => [option!, from + index]);
}

describe.each([["bucket"], ["window"], ["closing"], ["config"], ["apart"], ["pictures"]])(
  "in the editor, %s",
  (start) => {
    it("has a text at each option, where one hovers over it", () => {
      const options = optionsAfter(start);
      expect(options.length).toBeGreaterThan(4);
      // The application has named its plans. In the union of what they may have, editors find no text.
      const [shared] = CODE.slice(CODE.indexOf(`${start}: {`)).split("plans: {");
      const end = CODE.indexOf(shared!) + shared!.length;
      const silent = options.filter(
        ([, at]) => at < end && !textOf(service.getQuickInfoAtPosition(FILE, at)),
      );
      expect(silent).toEqual([]);
    });

    it("has a text at each option that it completes", () => {
      const at = optionsAfter(start).at(-1)![1];
      const { entries = [] } = service.getCompletionsAtPosition(FILE, at, {}) ?? {};
      const names = entries.map(({ name }) => name);
      expect(names.length).toBeGreaterThan(1);
      const silent = names.filter(
        (name) => !textOf(service.getCompletionEntryDetails(FILE, at, name)),
      );
      expect(silent).toEqual([]);
    });
  },
);

function namesIn(call: string): string[] {
  const at = CODE.indexOf(`${call}("`) + call.length + 2;
  const { entries = [] } = service.getCompletionsAtPosition(FILE, at, {}) ?? {};
  return entries.map(({ name }) => name).toSorted();
}

it.each(["limit", "acquire", "charge", "refund"])(
  "completes no name of slots, which %s refuses",
  (verb) => {
    expect(namesIn(`void limiter.${verb}`)).toEqual(
      expect.arrayContaining(["bought", "bucket", "closing", "window"]),
    );
    expect(namesIn(`void limiter.${verb}`)).not.toContain("render");
  },
);

it("completes the names of all limits for check, and of slots alone for enter", () => {
  expect(namesIn("void limiter.check")).toContain("render");
  expect(namesIn("void limiter.enter")).toEqual(["render"]);
  expect(namesIn("void limiter.observe")).toEqual(["bucket", "closing", "window"]);
});

it.each(["limit", "limitFirst", "limitAll", "overrides.set"])(
  "completes the plans in %s",
  (verb) => {
    const from = CODE.indexOf(`void planned.${verb}(`);
    const at = CODE.indexOf('plan: "', from) + 'plan: "'.length;
    const { entries = [] } = service.getCompletionsAtPosition(FILE, at, {}) ?? {};
    expect(entries.map(({ name }) => name).toSorted()).toEqual(["free", "pro"]);
  },
);

it("completes the plans and their limits in the table of prices, with the options of each", () => {
  const after = (text: string) => {
    const at = CODE.indexOf(text) + text.length;
    const { entries = [] } = service.getCompletionsAtPosition(FILE, at, {}) ?? {};
    return entries.map(({ name }) => name);
  };
  expect(after("planned.plans.")).toEqual(["free", "pro"]);
  expect(after("planned.plans.pro.")).toEqual(["pictures"]);
  expect(after("planned.plans.pro.pictures.")).toContain("capacity");
});

it("complains about a misspelt name in one line, which has the names that exist", () => {
  const messages = service
    .getSemanticDiagnostics(MISSPELT_FILE)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
  const wanted = `Argument of type '"typo"' is not assignable to parameter of type '"bucket"'.`;
  expect(messages).toEqual([...CALLS, "observe"].map(() => wanted));
});

it("refuses what a limit is not for, and a call without its plan", () => {
  const lines = service.getSemanticDiagnostics(REFUSED_FILE).map(({ start }) => {
    return REFUSED.slice(0, start).split("\n").length;
  });
  const first = REFUSED.split("\n\n")[0]!.split("\n").length + 2;
  expect([...new Set(lines)]).toEqual([0, 1, 2, 3, 4, 5].map((i) => first + i));
});

it("shows the type of a limit without empty objects", () => {
  const at = MISSPELT.lastIndexOf("limits: {");
  const { displayParts = [] } = service.getQuickInfoAtPosition(MISSPELT_FILE, at)!;
  const shown = displayParts.map(({ text }) => text).join("");
  expect(shown).toContain("LimitConfig");
  expect(shown).not.toContain("{}");
});
