/**
 * The AI SDK in each version that `limitModel` supports, in a project of its own, and models to try it
 * with.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { ModelCallParams, ModelMiddleware } from "../../server/ai/index.js";

const project = new URL("../ai/", import.meta.url);
const require = createRequire(new URL("package.json", project));

export const hasAiSdk = existsSync(fileURLToPath(new URL("node_modules/ai-7", project)));
/** The message of a test that is skipped without the project. */
export const NO_AI_SDK = "needs the AI SDK: npm run install:test-projects";

export const VERSIONS = [5, 6, 7] as const;
type Version = (typeof VERSIONS)[number];

/** A part of a stream, valid in any version. */
export type Part = { type: string } & Record<string, unknown>;

interface Answer {
  text: string;
  usage: unknown;
}

interface Generated {
  usage: unknown;
  headers?: Record<string, string>;
}

interface Streamed {
  stream: ReadableStream<Part>;
  headers?: Record<string, string>;
}

interface Doing {
  doGenerate?(params: ModelCallParams): Promise<Generated>;
  doStream?(params: ModelCallParams): Promise<Streamed>;
}

interface Options {
  model: unknown;
  prompt: string;
  maxOutputTokens?: number;
  maxRetries?: number;
  abortSignal?: AbortSignal;
  providerOptions?: Record<string, Record<string, string>>;
  onError?(event: { error: unknown }): void;
}

interface Ai {
  wrapLanguageModel(options: { model: unknown; middleware: ModelMiddleware }): unknown;
  generateText(options: Options): Promise<Answer>;
  streamText(options: Options): {
    textStream: AsyncIterable<string> & ReadableStream<string>;
    toTextStreamResponse(): Response;
  };
  APICallError: new (options: object) => Error;
}

export async function openAiSdk(version: Version) {
  const ai = (await load(`ai-${version}`)) as Ai;
  const tests = (await load(`ai-${version}/test`)) as Record<string, new (_: object) => object>;
  const Mock = tests[`MockLanguageModelV${version - 3}`]!;
  const finishReason = version === 5 ? "stop" : { unified: "stop", raw: "stop" };

  /** The usage that a model reports. */
  function usage(input?: unknown, output?: unknown): unknown {
    if (version === 5) return { inputTokens: input, outputTokens: output, totalTokens: undefined };
    return { inputTokens: { total: input }, outputTokens: { total: output } };
  }

  return {
    ...ai,
    usage,
    finish: (used: unknown): Part => ({ type: "finish", finishReason, usage: used }),
    text: (...words: string[]): Part[] => [
      { type: "text-start", id: "1" },
      ...words.map((delta) => ({ type: "text-delta", id: "1", delta })),
      { type: "text-end", id: "1" },
    ],
    model({ doGenerate, doStream }: Doing, middleware: ModelMiddleware): unknown {
      const model = new Mock({
        async doGenerate(params: ModelCallParams) {
          const { usage: used, headers } = await doGenerate!(params);
          const content = [{ type: "text", text: "Hello" }];
          return { content, finishReason, usage: used, warnings: [], response: { headers } };
        },
        async doStream(params: ModelCallParams) {
          const { stream, headers } = await doStream!(params);
          return { stream, response: { headers } };
        },
      });
      return ai.wrapLanguageModel({ model, middleware });
    },
    /** The error of a provider that refuses a call. */
    refusal: (statusCode: number, responseHeaders: Record<string, string> = {}) =>
      new ai.APICallError({
        message: "refused",
        url: "http://127.0.0.1",
        requestBodyValues: {},
        statusCode,
        responseHeaders,
        isRetryable: false,
      }),
  };
}

interface Chat {
  readonly error: Error | undefined;
  sendMessage(message: { text: string }): Promise<void>;
}

/** The chat behind the hook `useChat`, without React, which asks a server by this `fetch`. */
export async function chatOf(version: Version, fetch: () => Promise<Response>): Promise<Chat> {
  const { AbstractChat, DefaultChatTransport } = (await load(`ai-${version}`)) as {
    AbstractChat: new (options: object) => Chat;
    DefaultChatTransport: new (options: object) => object;
  };
  const state = {
    status: "ready",
    error: undefined,
    messages: [] as unknown[],
    pushMessage: (message: unknown) => void state.messages.push(message),
    popMessage: () => void state.messages.pop(),
    replaceMessage: (at: number, message: unknown) => void (state.messages[at] = message),
    snapshot: <T>(of: T): T => structuredClone(of),
  };
  const transport = new DefaultChatTransport({ api: "http://127.0.0.1/chat", fetch });
  return new AbstractChat({ id: "1", state, transport });
}

/** A provider's own package, which asks a server over HTTP. */
export async function openProvider(version: Version) {
  return (await load(`provider-${version}`)) as {
    createOpenAICompatible(options: {
      name: string;
      baseURL: string;
      includeUsage: boolean;
    }): (model: string) => unknown;
  };
}

export type AiSdk = Awaited<ReturnType<typeof openAiSdk>>;

/**
 * A stream of these parts. Each part comes when the reader asks for it. An `Error` among them fails the
 * stream.
 */
export function streamOf(parts: readonly (Part | Error)[]): ReadableStream<Part> {
  const rest = [...parts];
  return new ReadableStream<Part>(
    {
      pull(controller) {
        const next = rest.shift();
        if (next instanceof Error) controller.error(next);
        else if (next === undefined) controller.close();
        else controller.enqueue(next);
      },
    },
    { highWaterMark: 0 },
  );
}

function load(specifier: string): Promise<unknown> {
  return import(pathToFileURL(require.resolve(specifier)).href);
}
