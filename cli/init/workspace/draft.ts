/** Edits of the files of a monorepo, several of one file among them, before anything is written. */
import { whyNotEditable } from "../editable.js";
import { readText } from "../files.js";
import type { Plan } from "../plan.js";

export interface Step {
  file: string;
  /** `undefined` where the file is not as it is known. */
  edit(text: string): string | undefined;
  /** What its author has to add otherwise. */
  lines: string;
  why?: string;
}

const UNKNOWN = "it has no place that is known";

/** In the order of the steps. A file is changed once, by the lines of all of its steps. */
export class Draft {
  readonly #texts = new Map<string, { before: string | undefined; after: string }>();
  readonly #byHand: Plan["byHand"] = [];
  readonly #present: string[] = [];
  /** The file that the following steps need, and that could not be written. */
  #missing: string | undefined;

  constructor(readonly root: string) {}

  /** As it will be. */
  async read(file: string): Promise<string | undefined> {
    return this.#texts.get(file)?.after ?? readText(this.root, file);
  }

  /** A file that is there, and that a plan without changes names. */
  seen(file: string): void {
    this.#present.push(file);
  }

  /** Resolves with whether the file will have it. */
  async edit({ file, edit, lines, why = UNKNOWN }: Step): Promise<boolean> {
    const before = (await this.read(file)) ?? "";
    const obstacle = await whyNotEditable(this.root, file);
    const after = obstacle === undefined && this.#missing === undefined ? edit(before) : undefined;
    if (after === undefined) {
      const reason =
        this.#missing === undefined ? (obstacle ?? why) : `it comes after ${this.#missing}`;
      this.byHand(file, reason, lines);
      return false;
    }
    if (after === before) this.seen(file);
    else this.#texts.set(file, { before: this.#texts.get(file)?.before ?? before, after });
    return true;
  }

  /** As `edit`. If it fails, the steps after it are left to the author, too. */
  async need(step: Step): Promise<boolean> {
    const isDone = await this.edit(step);
    if (!isDone) this.#missing ??= step.file;
    return isDone;
  }

  /** A file that there is not. Resolves with whether it will be there. */
  async create(file: string, text: string): Promise<boolean> {
    const exists = (await readText(this.root, file)) !== undefined;
    const obstacle = exists
      ? "there is a file of this name already"
      : await whyNotEditable(this.root, file);
    if (obstacle === undefined && this.#missing === undefined) {
      this.#texts.set(file, { before: undefined, after: text });
      return true;
    }
    this.byHand(file, obstacle ?? `it comes after ${this.#missing}`, text);
    this.#missing ??= file;
    return false;
  }

  byHand(file: string, why: string, lines: string): void {
    this.#byHand.push({ file, why, lines });
  }

  /** @param file that could not be written, and that all later steps need. */
  stop(file: string): void {
    this.#missing ??= file;
  }

  plan(): Plan {
    const changes = [...this.#texts].map(([file, texts]) => ({ file, ...texts }));
    return { changes, byHand: this.#byHand, present: this.#present, notes: [], next: [] };
  }
}
