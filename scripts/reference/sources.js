/**
 * The TypeScript nodes behind TypeDoc's declarations. Types are shown as they are written in the sources.
 */
import { Converter } from "typedoc";
import ts from "typescript";

const PRINTER = ts.createPrinter({ removeComments: true });

export class Sources {
  #nodes = new WeakMap();

  constructor(converter) {
    converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
      const [node] = context.getSymbolFromReflection(reflection)?.declarations ?? [];
      if (node !== undefined) this.#nodes.set(reflection, node);
    });
    converter.on(Converter.EVENT_CREATE_SIGNATURE, (_context, signature, node) => {
      if (node !== undefined) this.#nodes.set(signature, node);
    });
  }

  /** The node of a reflection; `undefined` if the reflection has no node. */
  of(reflection) {
    return this.#nodes.get(reflection);
  }

  /** The names of types that a declaration uses, without the body of a function. */
  namesIn(reflection) {
    const names = new Set();
    const visit = (node) => {
      if (ts.isBlock(node)) return;
      if (ts.isTypeReferenceNode(node)) names.add(node.typeName.getText());
      if (ts.isTypeQueryNode(node)) names.add(node.exprName.getText());
      if (ts.isExpressionWithTypeArguments(node)) names.add(node.expression.getText());
      ts.forEachChild(node, visit);
    };
    const node = this.of(reflection);
    if (node !== undefined) visit(node);
    return names;
  }
}

/** The text of a node without comments. */
export function textOf(node, source = node.getSourceFile()) {
  return PRINTER.printNode(ts.EmitHint.Unspecified, node, source);
}

/** The members of an interface, or of the object that a function returns. */
export function membersOf(declaration) {
  const returned = declaration?.signatures?.[0]?.type;
  const object = returned?.type === "reflection" ? returned.declaration : declaration;
  return object?.children ?? [];
}

/** The signatures of a function or method, also of a function that is the value of a property. */
export function signaturesOf(declaration) {
  const type = declaration.type?.type === "reflection" ? declaration.type.declaration : undefined;
  return declaration.signatures ?? type?.signatures ?? [];
}
