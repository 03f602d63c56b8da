/** Wires the limits into tRPC: in a T3 app by edits, elsewhere by the lines for its author. */
import { type Application, findSource, T3_FILES } from "./application.js";
import { whyNotEditable } from "./editable.js";
import { readText } from "./files.js";
import { specifierOf } from "./import-style.js";
import { importText } from "./import-text.js";
import type { ByHand, Change } from "./plan.js";
import {
  CLIENT_IMPORTS,
  editReact,
  editRoot,
  editTrpc,
  HOOKS,
  rateLimitSection,
  SERVER_IMPORTS,
  type T3Options,
} from "./t3-edits.js";

export interface Wiring {
  changes: Change[];
  byHand: ByHand[];
  present: string[];
}

/** What shows that the lines are there: those of tRPC, of the router, and of the client. */
const MARKS = [/\bcreateRateLimitTRPC\(/, /\brateLimit\s*:/, /\bcreateRateLimitReact\b/];

const NOT_SCAFFOLDED = "it is not as create-t3-app writes it";

/** @param hasLimits whether `limits.ts` is there, or is about to be. */
export async function planWiring(
  app: Application,
  limitsFile: string,
  hasLimits: boolean,
): Promise<Wiring> {
  const wiring: Wiring = { changes: [], byHand: [], present: [] };
  if (app.kind === "other") return wiring;
  const options = { alias: app.imports.alias?.prefix ?? "~/", hasSession: app.hasSession };
  const lines = linesOf(app, limitsFile, options);
  if (app.kind === "trpc") {
    const present = await findSource(app.root, app.sources, MARKS[0]!);
    if (present === undefined) wiring.byHand.push(...lines);
    else wiring.present.push(present);
    return wiring;
  }
  const edits: ((text: string) => string | undefined)[] = [
    (text) => editTrpc(text, options),
    (text) => editRoot(text, options),
    editReact,
  ];
  // Each file uses what the one before it exports.
  let missing = hasLimits ? undefined : limitsFile;
  for (const [i, byHand] of lines.entries()) {
    const { file } = byHand;
    const before = (await readText(app.root, file)) ?? "";
    // The author may have put it into another file.
    const places = file === T3_FILES.root ? [file] : app.sources;
    const present = await findSource(app.root, places, MARKS[i]!);
    if (present !== undefined) {
      wiring.present.push(present);
      continue;
    }
    const after = missing === undefined ? edits[i]!(before) : undefined;
    const obstacle = await whyNotEditable(app.root, file);
    if (after !== undefined && obstacle === undefined) {
      wiring.changes.push({ file, before, after });
      continue;
    }
    const why = missing === undefined ? (obstacle ?? NOT_SCAFFOLDED) : `it comes after ${missing}`;
    wiring.byHand.push({ ...byHand, why });
    missing ??= file;
  }
  return wiring;
}

/** What has to be in tRPC's file, in the router's, and in that of the client. */
function linesOf(app: Application, limitsFile: string, options: T3Options): ByHand[] {
  const isT3 = app.kind === "t3";
  const trpc = app.trpcFile!;
  const why = "it has no place that is known";
  const section = isT3 ? rateLimitSection(options) : PLAIN_SECTION;
  return [
    {
      file: trpc,
      why,
      lines: `${isT3 ? SERVER_IMPORTS : PLAIN_IMPORT}
${importText(specifierOf(app.imports, trpc, limitsFile), ["limiter"])}

// In initTRPC…create({ … }): pass the shape that you return through formatRateLimitError.
errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),

// After \`const t\`:
${section}`,
    },
    {
      file: isT3 ? T3_FILES.root : "the file of your router",
      why,
      lines: `// In the router of the application, with rateLimitRouter of ${trpc}:
rateLimit: rateLimitRouter,`,
    },
    {
      file: isT3 ? T3_FILES.react : "the file of your tRPC client",
      why,
      lines: `${[SUBSCRIPTIONS, ...CLIENT_IMPORTS].join("\n")}

${HOOKS}

// In the links, in place of the link that sends (with the transformer and the URL that it has):
// Names the limit of each mutation, such as "post.create": "createPost".
rateLimitLink<AppRouter>({ limits: {} }),
splitLink({
  condition: (op) => op.type === "subscription",
  true: httpSubscriptionLink({ transformer, url }),
  false: httpBatchStreamLink({ transformer, url }),
}),

// Around the application, inside of QueryClientProvider:
<RateLimitProvider client={trpcClient}>{children}</RateLimitProvider>`,
    },
  ];
}

const PLAIN_IMPORT = importText("trpc-rate-limit/trpc", [
  "createRateLimitTRPC",
  "formatRateLimitError",
]);
const SUBSCRIPTIONS = importText("@trpc/client", ["httpSubscriptionLink", "splitLink"]);

const PLAIN_SECTION = `export const { rateLimited, router: rateLimitRouter } = createRateLimitTRPC({
  t,
  limiter,
  // Who is limited: the id of the user. For visitors, ipKey(address), and autoPrune: true at the
  // limiter; see docs/visitors.md of trpc-rate-limit.
  key: ({ ctx }) => ctx.userId,
});`;
