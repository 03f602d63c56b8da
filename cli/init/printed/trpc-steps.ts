/** The steps for an application with tRPC: a procedure with a limit, and a component with the wait. */
import { Code, indented } from "../code/code.js";
import { codeStyleOf, inStyle } from "../code/code-style.js";
import { importedFrom, importText } from "../code/imports.js";
import { declaredIn } from "../code/syntax.js";
import { specifierOfFile } from "../facts/specifiers.js";
import { inFolder } from "../facts/member.js";
import type { Example } from "../facts/mutations.js";
import type { Project } from "../facts/project.js";
import type { Web } from "../facts/web.js";

export interface TrpcSteps {
  project: Project;
  limits: string;
  webs: readonly Web[];
  example: Example | undefined;
}

export function trpcSteps(options: TrpcSteps): string[] {
  const { project, webs, example } = options;
  const browser = webs.find(({ isNative, hooks }) => !isNative && hooks !== undefined);
  const phone = webs.find(({ isNative, hooks }) => isNative && hooks !== undefined);
  const shown = [browser, phone].flatMap((web) => web ?? []);
  return [
    procedureStep(options, example),
    ...(shown.length === 0 ? [WITHOUT_REACT] : []),
    ...shown.map((web) => countdownStep(project, web, example)),
  ];
}

function procedureStep({ project, limits, webs }: TrpcSteps, example: Example | undefined): string {
  const { trpcFile } = project;
  const web = webs.find(({ links }) => links !== undefined);
  const files = webs.flatMap(({ links }) => links?.file ?? []).join(" and ");
  const path = example?.path ?? "post.create";
  const place = example === undefined ? "" : `, such as ${path} in ${example.file}`;
  const link = web === undefined ? "" : `, and name it to the link in ${files}`;
  const named = `\n\nrateLimitLink<${web?.router?.name ?? "AppRouter"}>({ limits: { "${path}": "createPost" } }),`;
  return withLines(
    `limit a procedure${place}, with rateLimited of ${trpcFile} and the limits of ${limits}${link}`,
    procedureLines(project, example) + (link === "" ? "" : named),
    textOf(project, trpcFile!),
  );
}

const textOf = ({ members }: Project, file: string) =>
  members.flatMap(({ sources }) => sources.get(file) ?? [])[0] ?? "";

function procedureLines(project: Project, example: Example | undefined): string {
  const trpc = textOf(project, project.trpcFile!);
  const builder =
    example?.builder ?? /\bexport const (publicProcedure|\w*[pP]rocedure)\b/.exec(trpc)?.[1];
  const key = example?.isAlone ? "" : `${example?.path.split(".").at(-1) ?? "create"}: `;
  const calls = [
    ...(example?.hasInput === false
      ? [`.use(rateLimited("createPost"))`]
      : [
          ".input(…)",
          `.use(rateLimited("createPost")) // after the input, so that invalid input costs nothing`,
        ]),
    `.mutation(…)${key === "" ? "" : ","}`,
  ];
  return `${importLines(project, example)}${key}${builder ?? "t.procedure"}\n${indented(calls.join("\n"), "  ")}`;
}

/** The import of `rateLimited`, beside the builder of the procedure if both come from one file. */
function importLines(project: Project, example: Example | undefined): string {
  const { trpcFile } = project;
  if (example === undefined || example.file === trpcFile) return "";
  const code = Code.read(example.file, textOf(project, example.file));
  const trpc = Code.read(trpcFile!, textOf(project, trpcFile!));
  const isBeside = trpc && declaredIn(trpc.program).some(({ name }) => name === example.root);
  const from = isBeside && code ? importedFrom(code, example.root!) : undefined;
  const names = [...(from ? [example.root!] : []), "rateLimited"];
  return `${importText(from ?? specifierOfFile(project, example.file, trpcFile!), names)}\n\n`;
}

const WITHOUT_REACT =
  "show the countdown in the client: docs/countdown.md of trpc-rate-limit, or docs/without-react.md";

/** The code of a component that shows the wait. A button may lay its elements out: it gets one text. */
const COUNTDOWN = `const { status } = useRateLimit("createPost");

<button disabled={status?.ok === false}>
  {status?.ok === false ? (
    <RateLimitCountdown retryAt={status.retryAt}>
      {(_, text) => \`Wait \${text}\`}
    </RateLimitCountdown>
  ) : (
    "Send"
  )}
</button>`;

/** The same component without HTML, for React Native. */
export const NATIVE = `const { status } = useRateLimit("createPost");
const seconds = useCountdown(status?.retryAt);

<Button disabled={seconds > 0} title={seconds > 0 ? \`Wait \${seconds}s\` : "Send"} onPress={…} />`;

function countdownStep(project: Project, web: Web, example: Example | undefined): string {
  const { isNative, hooks, member } = web;
  const page = example?.components.find(
    ({ member: { name, packages } }) => name === member.name || packages.has(member.name),
  )?.file;
  const names = [isNative ? "useCountdown" : "RateLimitCountdown", "useRateLimit"];
  const from = specifierOfFile(project, page ?? inFolder(member, "src/page.tsx"), hooks!);
  const place = page === undefined ? "" : `, such as ${page}`;
  return withLines(
    `show the countdown in a component${isNative ? " of React Native" : ""}${place}, beside what its button says already`,
    `${page === hooks ? "" : `${importText(from, names)}\n\n`}${isNative ? NATIVE : COUNTDOWN}`,
    textOf(project, hooks!),
  );
}

/** @param near a text in the style that the lines shall have. */
export function withLines(step: string, code: string, near: string): string {
  return `${step}:\n\n${indented(inStyle(code, codeStyleOf(near)), "  ")}\n`;
}
