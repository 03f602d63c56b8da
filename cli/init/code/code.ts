/**
 * A file of code that is edited at places of its syntax. Code that is not edited keeps each character.
 * Added code has the quotes, the semicolons and the indentation of the file.
 */
import type { Node, Program } from "@babel/types";
import MagicString from "magic-string";
import { type CodeStyle, codeStyleOf, indentUnit, inStyle } from "./code-style.js";
import { endOf, findAll, parseProgram, startOf } from "./syntax.js";

export class Code {
  readonly style: CodeStyle;
  /** One level of indentation. */
  readonly unit: string;
  readonly #edited: MagicString;
  /** The names that edits need, by the module that exports them. `writeImports` writes the imports. */
  readonly wanted = new Map<string, string[]>();

  private constructor(
    readonly file: string,
    readonly text: string,
    readonly program: Program,
  ) {
    this.style = codeStyleOf(text);
    this.unit = indentUnit(text);
    this.#edited = new MagicString(text);
  }

  static read(file: string, text: string): Code | undefined {
    const program = parseProgram(file, text);
    return program && new Code(file, text, program);
  }

  /**
   * The text with all edits; `undefined` if the text does not parse any more, for example with a name
   * declared twice.
   */
  result(): string | undefined {
    const text = this.#edited.toString();
    return parseProgram(this.file, text) ? text : undefined;
  }

  addImport(from: string, names: readonly string[]): void {
    this.wanted.set(from, [...(this.wanted.get(from) ?? []), ...names]);
  }

  textOf(node: Node): string {
    return this.text.slice(startOf(node), endOf(node));
  }

  /** The indentation of the line that has a position. */
  indentAt(position: number): string {
    const line = this.text.lastIndexOf("\n", position - 1) + 1;
    return /^[ \t]*/.exec(this.text.slice(line))![0];
  }

  /** The end of the line that has a position, before its line end. */
  lineEnd(position: number): number {
    const end = this.text.indexOf("\n", position);
    return end === -1 ? this.text.length : end;
  }

  insert(position: number, text: string): void {
    this.#edited.appendLeft(position, text);
  }

  replace(start: number, end: number, text: string): void {
    if (start === end) this.insert(start, text);
    else this.#edited.update(start, end, text);
  }

  /** A part with its lines shifted to the right. Lines inside of template strings stay as they are. */
  shifted(start: number, end: number, by: string): string {
    const templates = findAll(this.program, "TemplateElement").map(({ node }) => node);
    const isSaid = (at: number) =>
      templates.some((each) => startOf(each) <= at && at < endOf(each));
    return this.text
      .slice(start, end)
      .replace(/\n(?=.)/g, (line, at: number) => (isSaid(start + at) ? line : line + by));
  }

  /** Adds a text at the end, after a blank line. */
  append(text: string): void {
    const gap = this.text.endsWith("\n\n") ? "" : this.text.endsWith("\n") ? "\n" : "\n\n";
    this.#edited.append((this.text === "" ? "" : gap) + text);
  }

  /** Turns lines of this command into the style of the file. */
  styled(lines: string): string {
    return inStyle(lines, this.style, this.unit);
  }
}

/** The same lines, shifted to the right. */
export function indented(text: string, by: string): string {
  return text.replace(/^(?=.)/gm, by);
}
