/** Compiles an application with changes, and without them, in a copy of the application. */
import { join, posix, relative, sep } from "node:path";
import type { Change } from "../plan.js";
import { memberWith } from "../facts/member.js";
import type { Project } from "../facts/project.js";
import { linkAddedPackages } from "./added-packages.js";
import { allDone, isInside } from "./copy-sources.js";
import { type FoundError, isOnNewLine, newErrors } from "./new-errors.js";
import { NotChecked } from "./not-checked.js";
import { pointToSources, removeReferences } from "./point-to-sources.js";
import { runTsc, type TscError } from "./run-tsc.js";
import { CODE, Shadow } from "./shadow.js";
import type { TscProject } from "./tsc-projects.js";

/** How many compilers run at a time. Each may need gigabytes of memory. */
const AT_A_TIME = 2;

/** A project that can be compiled. */
type Compiled = TscProject & { compiler: string };

interface TscCheckOptions {
  project: Project;
  projects: readonly Compiled[];
  /** All changes that are planned. */
  changes: readonly Change[];
  /** How long a compiler may run, in ms. */
  timeLimit: number;
}

/** TanStack Start writes the type of each route when it starts, and not before. */
const isOfNewRoute = ({ code, line }: FoundError, change: Change | undefined) =>
  code === "TS2345" &&
  change?.before === undefined &&
  /\bcreateFileRoute\(/.test(change?.after.split("\n")[line - 1] ?? "");

export class TscCheck {
  readonly #project: Project;
  readonly #shadow: Shadow;
  readonly #timeLimit: number;
  /** The folders of the members whose users compile against what was built of them. */
  readonly #built: ReadonlySet<string>;
  /** The packages that are to be installed. */
  readonly #unknown: ReadonlySet<string>;
  #projects: readonly Compiled[];
  #isStarted = false;
  /** The errors without changes. They are looked for when there is an error with changes. */
  #before: FoundError[] | undefined;
  /** Why projects could not be compiled, by their files of settings. */
  readonly failures = new Map<string, string>();
  /** All files that were compiled. */
  readonly files = new Set<string>();

  private constructor(
    { project, projects, timeLimit }: TscCheckOptions,
    shadow: Shadow,
    built: ReadonlySet<string>,
    unknown: ReadonlySet<string>,
  ) {
    this.#unknown = unknown;
    this.#project = project;
    this.#shadow = shadow;
    this.#projects = projects;
    this.#built = built;
    this.#timeLimit = timeLimit;
  }

  /** @throws NotChecked if the application cannot be copied. */
  static async open(options: TscCheckOptions): Promise<TscCheck> {
    const { project, projects, changes } = options;
    const shadow = await Shadow.open(project);
    try {
      const built = new Set<string>();
      for (const { file } of changes) {
        const member = CODE.test(file) ? memberWith(project.members, file) : undefined;
        if (member === undefined || member.folder === "" || built.has(member.folder)) continue;
        if (await pointToSources(shadow.root, member.folder)) built.add(member.folder);
      }
      for (const { config, isInParts } of projects) {
        if (isInParts) await removeReferences(shadow.root, config);
      }
      const unknown = await linkAddedPackages(project, changes, shadow.root);
      return new TscCheck(options, shadow, built, unknown);
    } catch (error) {
      await shadow.close();
      throw error;
    }
  }

  /** The folders of the projects that were compiled. */
  get compiled(): string[] {
    return [...new Set(this.#projects.map(({ folder }) => folder))];
  }

  /** @throws NotChecked if nothing could be compiled, or not again. */
  async newErrors(changes: readonly Change[]): Promise<FoundError[]> {
    if (!changes.some(({ file }) => CODE.test(file))) return [];
    const compiled = await this.#compile(changes, this.#projects);
    this.#isStarted = true;
    this.#projects = this.#projects.filter(({ config }) => !this.failures.has(config));
    if (this.#projects.length === 0) throw new NotChecked([...this.failures.values()][0]);
    const changeOf = ({ file }: FoundError) => changes.find((change) => change.file === file);
    const isKnownLater = (error: FoundError) => isOfNewRoute(error, changeOf(error));
    const after = compiled.filter((error) => !isKnownLater(error));
    // An application without errors of its own is compiled once.
    const isSurelyNew = after.every((each) => isOnNewLine(changeOf(each), each.line));
    if (!isSurelyNew) this.#before ??= await this.#compile([], this.#projects);
    const found = isSurelyNew ? after : newErrors(this.#before!, after);
    // An edit may be wrong because of an edit before it.
    const order = [...changes, undefined];
    return found.toSorted(
      (a, b) =>
        order.indexOf(changeOf(a)) - order.indexOf(changeOf(b)) ||
        a.file.localeCompare(b.file) ||
        a.line - b.line,
    );
  }

  /** Whether an error that is new with all changes is not there with these changes. */
  async isGone(error: FoundError, changes: readonly Change[]): Promise<boolean> {
    const projects = this.#projects.filter(({ config }) => config === error.config);
    const after = await this.#compile(changes, projects);
    const isSame = (each: FoundError) => each.file === error.file && each.code === error.code;
    return !newErrors(this.#before!, after).some(isSame);
  }

  close(): Promise<void> {
    return this.#shadow.close();
  }

  async #compile(changes: readonly Change[], projects: readonly Compiled[]): Promise<FoundError[]> {
    await this.#shadow.apply(changes);
    const errors: FoundError[] = [];
    const remaining = projects.values();
    const compileRemaining = async () => {
      // All loops take projects from the same iterator.
      for (const project of remaining) errors.push(...(await this.#errorsOf(project)));
    };
    await allDone(Array.from({ length: AT_A_TIME }, compileRemaining));
    return errors;
  }

  async #errorsOf(project: Compiled): Promise<FoundError[]> {
    const { root: cwd, top: rootDir } = this.#shadow;
    const { config, compiler } = project;
    const timeLimit = this.#timeLimit;
    try {
      const { errors, files } = await runTsc({ compiler, config, cwd, rootDir, timeLimit });
      for (const file of files) this.files.add(file);
      return errors
        .filter((error) => this.#isOwn(project, error.file) && !this.#isOfUnknown(error))
        .map((error) => ({ ...error, config }));
    } catch (error) {
      // A project that was compiled once has errors that count.
      if (this.#isStarted || !(error instanceof NotChecked)) throw error;
      this.failures.set(config, error.message);
      return [];
    }
  }

  #isOfUnknown({ message }: TscError): boolean {
    const name = /^Cannot find module '((?:@[^/']+\/)?[^/']+)/.exec(message)?.[1];
    return name !== undefined && this.#unknown.has(name);
  }

  /**
   * Whether an error in a file counts for a project. A package that is compiled against what was built
   * of a member would not see the member's sources, nor their errors under its own settings.
   */
  #isOwn({ folder, isInParts }: TscProject, file: string): boolean {
    const { root, top } = this.#shadow;
    const path = join(root, file);
    if (!isInside(top, path) || relative(top, path).split(sep).includes("node_modules"))
      return false;
    const { members } = this.#project;
    const [own, other] = [memberWith(members, posix.join(folder, "_")), memberWith(members, file)];
    return own === other || !(isInParts || this.#built.has(other?.folder ?? ""));
  }
}
