/**
 * Collects edits of the files of a project, before anything is written. A file may have several edits.
 */
import { Code } from "./code/code.js";
import { writeImports } from "./code/imports.js";
import { whyNotEditable } from "./files/editable.js";
import { readText } from "./files/files.js";
import type { Plan, WhyRefused } from "./plan.js";

/** The lines that the author of a file has to add, if `init` cannot add them. */
interface Otherwise {
  lines: string;
  why?: string;
}

interface TextStep extends Otherwise {
  file: string;
  /** `undefined` where the file does not have a known form. */
  edit(text: string): string | undefined;
}

export interface CodeStep extends Otherwise {
  file: string;
  /** @returns whether the edit has found its places. */
  edit(code: Code): boolean;
}

const UNKNOWN = "it has no place that is known";

/** Runs the steps in their order. A file is written once, with the edits of all its steps. */
export class Draft {
  readonly #texts = new Map<string, { before: string | undefined; after: string }>();
  readonly #byHand: Plan["byHand"] = [];
  readonly #present: string[] = [];
  readonly #notes = new Set<string>();
  /** Why all further steps are left to the author. */
  #stopped: string | undefined;

  constructor(
    readonly root: string,
    readonly whyRefused: WhyRefused = () => undefined,
  ) {}

  /** The text of a file after the edits so far. */
  async read(file: string): Promise<string | undefined> {
    return this.#texts.get(file)?.after ?? readText(this.root, file);
  }

  async readCode(file: string): Promise<Code | undefined> {
    const text = await this.read(file);
    return text === undefined ? undefined : Code.read(file, text);
  }

  /** Notes a file that needs no change. A plan without changes names these files. */
  seen(file: string): void {
    this.#present.push(file);
  }

  /** Notes a choice that the author should know of. */
  note(text: string): void {
    this.#notes.add(text);
  }

  /** Resolves with whether the file will have the edit. */
  async editText({ file, edit, lines, why = UNKNOWN }: TextStep): Promise<boolean> {
    const before = (await this.read(file)) ?? "";
    const obstacle = this.#why(file) ?? (await whyNotEditable(this.root, file));
    const after = obstacle === undefined ? edit(before) : undefined;
    if (after === undefined) {
      this.byHand(file, obstacle ?? why, lines);
      return false;
    }
    if (after === before) this.seen(file);
    else this.#texts.set(file, { before: this.#texts.get(file)?.before ?? before, after });
    return true;
  }

  /** As `editText`, but edits the syntax of the file. */
  edit({ edit, ...step }: CodeStep): Promise<boolean> {
    return this.editText({
      ...step,
      edit(text) {
        const code = Code.read(step.file, text);
        if (!code || !edit(code)) return undefined;
        writeImports(code);
        return code.result();
      },
    });
  }

  /** As `edit`. If the edit fails, all further steps are left to the author, too. */
  async need(step: CodeStep): Promise<boolean> {
    const isDone = await this.edit(step);
    if (!isDone) this.stop(`it comes after ${step.file}`);
    return isDone;
  }

  /** Creates a file. Resolves with whether the file will be created. */
  async create(file: string, text: string, ifExists: string): Promise<boolean> {
    const exists = (await this.read(file)) !== undefined;
    const obstacle = this.#why(file) ?? (exists ? ifExists : await whyNotEditable(this.root, file));
    if (obstacle === undefined) {
      this.#texts.set(file, { before: undefined, after: text });
      return true;
    }
    this.byHand(file, obstacle, text);
    return false;
  }

  /** Why a file is left to its author, whatever it is like. */
  #why(file: string): string | undefined {
    return this.whyRefused(file) ?? this.#stopped;
  }

  byHand(file: string, why: string, lines: string): void {
    this.#byHand.push({ file, why, lines });
  }

  /**
   * Leaves all further steps to the author.
   *
   * @param why the reason. The first reason stays.
   */
  stop(why: string): void {
    this.#stopped ??= why;
  }

  plan(): Plan {
    const changes = [...this.#texts].map(([file, texts]) => ({ file, ...texts }));
    const [byHand, present, notes] = [this.#byHand, this.#present, [...this.#notes]];
    return { changes, byHand, present, notes, next: [] };
  }
}
