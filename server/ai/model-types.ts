/**
 * The parts that the middleware needs of a language model of the AI SDK 5, 6 and 7 (`LanguageModelV2`,
 * `V3` and `V4`), by structure: the package imports nothing of the AI SDK.
 */

/** The options of a call of a model, as its middleware gets them. */
export interface ModelCallParams {
  /** The messages of the prompt. */
  prompt: readonly unknown[];
  /** The most tokens that the model may write. */
  maxOutputTokens?: number | undefined;
  /** The tools that the model may call. The descriptions of the tools are a part of the prompt. */
  tools?: readonly unknown[] | undefined;
  /**
   * The values that the application passes on, by the provider's name or by a name that the application
   * chooses.
   */
  providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
  /** Ends the call. */
  abortSignal?: AbortSignal | undefined;
}

/** A call of a model, for the functions among the options of `limitModel`. */
export interface ModelCall {
  /** Whether the answer is streamed. */
  type: "generate" | "stream";
  /** The options of the call. */
  params: ModelCallParams;
  /** The model that is called. */
  model: { readonly provider: string; readonly modelId: string };
}

/**
 * The use that a model reports: numbers in version 5 of the AI SDK, and objects with a `total` from
 * version 6 on. A provider may leave out any of these figures.
 */
export interface ModelUsage {
  /** Tokens of the prompt. */
  inputTokens?: number | { total: number | undefined } | undefined;
  /** Tokens that the model has written. */
  outputTokens?: number | { total: number | undefined } | undefined;
  /** Tokens that the provider counts in all. */
  totalTokens?: number | undefined;
}

interface ResponseLike {
  response?: { headers?: Readonly<Record<string, string>> | undefined } | undefined;
}

/** The result of `doGenerate` of a model. */
export interface GenerateResultLike extends ResponseLike {
  /** The use of the call. */
  usage: ModelUsage;
}

/** The result of `doStream` of a model. */
export interface StreamResultLike extends ResponseLike {
  /** The parts of the answer. */
  stream: ReadableStream<unknown>;
}

/** Middleware for `wrapLanguageModel` of the AI SDK 5, 6 and 7. */
export interface ModelMiddleware {
  /** The AI SDK 6 demands this literal. The versions 5 and 7 take any value. */
  readonly specificationVersion: "v3";
  /** Wraps a call that is answered at once. */
  wrapGenerate<TResult extends GenerateResultLike>(options: {
    doGenerate: () => PromiseLike<TResult>;
    params: ModelCallParams;
    model: ModelCall["model"];
  }): Promise<TResult>;
  /** Wraps a call with a streamed answer. */
  wrapStream<TResult extends StreamResultLike>(options: {
    doStream: () => PromiseLike<TResult>;
    params: ModelCallParams;
    model: ModelCall["model"];
  }): Promise<TResult>;
}
