/** Edits of the files of a project, several of one file among them, before anything is written. */
import { Code } from "./code/code.js";
import { writeImports } from "./code/imports.js";
import { whyNotEditable } from "./editable.js";
import { readText } from "./files.js";
import type { Plan } from "./plan.js";

/** What the author of a file adds, if `init` cannot. */
interface Otherwise {
  lines: string;
  why?: string;
}

interface TextStep extends Otherwise {
  file: string;
  /** `undefined` where the file is not as it is known. */
  edit(text: string): string | undefined;
}

export interface CodeStep extends Otherwise {
  file: string;
  /** @returns whether it has found its places. */
  edit(code: Code): boolean;
}

const UNKNOWN = "it has no place that is known";

/** In the order of the steps. A file is changed once, by the lines of all of its steps. */
export class Draft {
  readonly #texts = new Map<string, { before: string | undefined; after: string }>();
  readonly #byHand: Plan["byHand"] = [];
  readonly #present: string[] = [];
  readonly #notes: string[] = [];
  /** Why the steps that follow are left to the author. */
  #stopped: string | undefined;

  constructor(readonly root: string) {}

  /** As it will be. */
  async read(file: string): Promise<string | undefined> {
    return this.#texts.get(file)?.after ?? readText(this.root, file);
  }

  async readCode(file: string): Promise<Code | undefined> {
    const text = await this.read(file);
    return text === undefined ? undefined : Code.read(file, text);
  }

  /** A file that is there, and that a plan without changes names. */
  seen(file: string): void {
    this.#present.push(file);
  }

  /** What the author should know of a choice that was made. */
  note(text: string): void {
    this.#notes.push(text);
  }

  /** Resolves with whether the file will have it. */
  async editText({ file, edit, lines, why = UNKNOWN }: TextStep): Promise<boolean> {
    const before = (await this.read(file)) ?? "";
    const obstacle = this.#stopped ?? (await whyNotEditable(this.root, file));
    const after = obstacle === undefined ? edit(before) : undefined;
    if (after === undefined) {
      this.byHand(file, obstacle ?? why, lines);
      return false;
    }
    if (after === before) this.seen(file);
    else this.#texts.set(file, { before: this.#texts.get(file)?.before ?? before, after });
    return true;
  }

  /** As `editText`, by the syntax of the file. */
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

  /** As `edit`. If it fails, the steps after it are left to the author, too. */
  async need(step: CodeStep): Promise<boolean> {
    const isDone = await this.edit(step);
    if (!isDone) this.stop(`it comes after ${step.file}`);
    return isDone;
  }

  /** A file that there is not. Resolves with whether it will be there. */
  async create(file: string, text: string, ifExists: string): Promise<boolean> {
    const exists = (await this.read(file)) !== undefined;
    const obstacle = this.#stopped ?? (exists ? ifExists : await whyNotEditable(this.root, file));
    if (obstacle === undefined) {
      this.#texts.set(file, { before: undefined, after: text });
      return true;
    }
    this.byHand(file, obstacle, text);
    return false;
  }

  byHand(file: string, why: string, lines: string): void {
    this.#byHand.push({ file, why, lines });
  }

  /** @param why the steps that follow cannot be done. The first reason stays. */
  stop(why: string): void {
    this.#stopped ??= why;
  }

  plan(): Plan {
    const changes = [...this.#texts].map(([file, texts]) => ({ file, ...texts }));
    const [byHand, present, notes] = [this.#byHand, this.#present, this.#notes];
    return { changes, byHand, present, notes, next: [] };
  }
}
