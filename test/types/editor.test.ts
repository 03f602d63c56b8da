/**
 * What an editor shows where people write a config. It asks the language service of TypeScript 5,
 * which most editors run, and which TypeScript 7 does not have as a module.
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

const CODE = `import { createRateLimiter, type LimitConfigs, memoryStore } from "../../server/index.js";
const limiter = createRateLimiter({
  store: memoryStore(),
  limits: {
    bucket: { kind: "token bucket", rate: 1, period: 10, capacity: 3, blockFor: 4, maxReserved: 5, shadow: true, whenStoreFails: "fail" },
    window: { kind: "fixed window", rate: 1, period: 10, capacity: 3, start: 0, shards: 2 },
    closing: { kind: "fixed window", rate: 1, period: 10, blockFor: 5, afterBlock: "new window" },
    bought: { kind: "credits" },
  },
});
void limiter.limit("other", {
  config: { kind: "token bucket", rate: 1, period: 10, capacity: 3, blockFor: 4, shards: 1 },
});
void limiter.changeConfig("bucket", { key: "ada", to: { kind: "token bucket", rate: 2, period: 10 } });
export const limits = {
  apart: { kind: "fixed window", rate: 1, period: 10, capacity: 3, shards: 2 },
} satisfies LimitConfigs;
void limiter.limit("typo", { key: "ada" });
`;

interface Parts {
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
    getSemanticDiagnostics(file: string): readonly { messageText: string | object }[];
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
  const textOf = (path: string) => (path === FILE ? CODE : ts.sys.readFile(path));
  service = ts.createLanguageService({
    ...ts.sys,
    useCaseSensitiveFileNames: () => true,
    fileExists: (path: string) => path === FILE || ts.sys.fileExists(path),
    getCompilationSettings: () => ({ strict: true, module: 199, target: 99, types: [] }),
    getScriptFileNames: () => [FILE],
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

describe.each([["bucket"], ["window"], ["closing"], ["config"], ["apart"]])(
  "in the editor, %s",
  (start) => {
    it("has a text at each option, where one hovers over it", () => {
      const options = optionsAfter(start);
      expect(options.length).toBeGreaterThan(4);
      const silent = options.filter(([, at]) => !textOf(service.getQuickInfoAtPosition(FILE, at)));
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

it("completes the names of limits whose plan can change", () => {
  const at = CODE.indexOf('changeConfig("') + 'changeConfig("'.length;
  const { entries = [] } = service.getCompletionsAtPosition(FILE, at, {}) ?? {};
  const names = entries.map(({ name }) => name);
  expect(names.toSorted()).toEqual(["bucket", "closing", "window"]);
});

it("the first error about a misspelt name has the names that exist", () => {
  const [only, ...others] = service.getSemanticDiagnostics(FILE);
  expect(others).toEqual([]);
  const message = ts.flattenDiagnosticMessageText(only!.messageText, "\n");
  const reason = message
    .split("\n")
    .find((line) => /is missing|is not assignable to parameter of type '"/.test(line));
  expect(reason).toMatch(/"bucket" \| "window" \| "closing"/);
});
