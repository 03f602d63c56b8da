/** Simplifies types for callers. */
import ts from "typescript";
import { textOf } from "./sources.js";

const TEXT = ts.factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword);
const PLAN = ts.factory.createTypeReferenceNode("PlanOptions");

/** Types of arguments, whose last type is that of the options; some add a plan to the options. */
const ARGUMENTS = { KnownKey: false, PlanArgs: false, CallArgs: true, PlanOfList: true };

/**
 * Writes a type with the constraint in place of a type parameter. Leaves out arguments that are type
 * parameters, and types that only check an argument. Editors show the whole type.
 */
export class Simplifier {
  #isExported;

  /** @param isExported whether the package exports a name. */
  constructor(isExported) {
    this.#isExported = isExported;
  }

  /** @param isOptional whether the value may be left out. `undefined` is then not written. */
  textOf(node, isOptional = false) {
    const simplified = this.#simplify(isOptional ? withoutUndefined(node) : node);
    return textOf(simplified, node.getSourceFile());
  }

  /** The parameters behind a rest parameter; `undefined` for a parameter of its own. */
  argumentsOf(node) {
    if (node?.dotDotDotToken === undefined || !isArguments(node.type)) return undefined;
    const { typeName, typeArguments } = node.type;
    const type = typeArguments.at(-1);
    if (typeName.text === "KnownKey" && isArguments(type)) {
      return this.argumentsOf({ dotDotDotToken: node.dotDotDotToken, type });
    }
    if (!ts.isTupleTypeNode(type)) {
      return [{ name: "options", isOptional: true, type: this.textOf(node.type) }];
    }
    return type.elements.map((one) => ({
      name: one.name.text,
      isOptional: one.questionToken !== undefined,
      type: this.textOf(one.type),
    }));
  }

  #simplify = (type) => {
    if (isArguments(type)) return this.#optionsOf(type);
    if (ts.isParenthesizedTypeNode(type)) return withoutParentheses(this.#simplify(type.type));
    if (ts.isIntersectionTypeNode(type)) return this.#intersection(type);
    if (isParameter(type)) {
      const { constraint } = parameterOf(type);
      const isShown = constraint && (this.#isText(constraint) || this.#isNamed(constraint));
      return isShown ? this.#simplify(constraint) : type;
    }
    if (ts.isTypeReferenceNode(type) && type.typeArguments !== undefined) {
      return this.#withArguments(type);
    }
    return ts.visitEachChild(type, this.#simplify, undefined);
  };

  #intersection(type) {
    if (isNameOf(type)) return TEXT;
    const shown = type.types.filter((one) => !isCheck(one));
    if (shown.length === 1) return this.#simplify(shown[0]);
    const types = ts.factory.createNodeArray(shown.map(this.#simplify));
    return ts.factory.updateIntersectionTypeNode(type, types);
  }

  #optionsOf(type) {
    const options = this.#simplify(type.typeArguments.at(-1));
    if (!ARGUMENTS[type.typeName.text]) return options;
    return ts.factory.createIntersectionTypeNode([options, PLAN]);
  }

  #withArguments(type) {
    const name = type.typeName.getText();
    if (name === "ResultOf") return this.#simplify(type.typeArguments[0]);
    if (/^(?:SaysPlan|MaySayPlan)$/.test(name)) return PLAN;
    const isOwn = this.#isExported(name);
    const usual = name.replace(/Of$/, "");
    if (!isOwn && this.#isExported(usual)) return ts.factory.createTypeReferenceNode(usual);
    if (!isOwn && /Names?$/.test(name)) return TEXT;
    if (name.startsWith("Middleware")) return ts.factory.createTypeReferenceNode(name);
    const shown = type.typeArguments.filter((one) => !isOwn || !this.#isOfParameters(one));
    const given = shown.length === 0 ? undefined : shown.map(this.#simplify);
    return ts.factory.createTypeReferenceNode(type.typeName, given);
  }

  #isOfParameters = (type) =>
    isParameter(type) ||
    (ts.isTypeReferenceNode(type) &&
      type.typeArguments !== undefined &&
      !this.#isExported(type.typeName.getText()) &&
      type.typeArguments.every(this.#isOfParameters)) ||
    (ts.isTypeOperatorNode(type) && this.#isOfParameters(type.type)) ||
    (ts.isIndexedAccessTypeNode(type) && this.#isOfParameters(type.objectType)) ||
    (ts.isIntersectionTypeNode(type) && this.#isOfParameters(type.types[0]));

  #isNamed(type) {
    if (ts.isUnionTypeNode(type)) return type.types.every((one) => this.#isNamed(one));
    return ts.isTypeReferenceNode(type) && this.#isExported(type.typeName.getText());
  }

  /** Whether a type is text, or a list of texts, behind its type parameters. */
  #isText = (type) => {
    if (type === undefined) return false;
    if (isParameter(type)) return this.#isText(parameterOf(type).constraint);
    if (ts.isUnionTypeNode(type)) return type.types.every(this.#isText);
    if (ts.isTypeOperatorNode(type)) return this.#isText(type.type);
    if (ts.isArrayTypeNode(type)) return this.#isText(type.elementType);
    return type.kind === ts.SyntaxKind.StringKeyword || isNameOf(type);
  };
}

function withoutUndefined(type) {
  if (!ts.isUnionTypeNode(type)) return type;
  const others = type.types.filter((one) => one.kind !== ts.SyntaxKind.UndefinedKeyword);
  if (others.length > 1) return ts.factory.createUnionTypeNode(others);
  const [first] = others;
  return ts.isParenthesizedTypeNode(first) ? first.type : first;
}

function isArguments(type) {
  return ts.isTypeReferenceNode(type) && type.typeName.getText() in ARGUMENTS;
}

function withoutParentheses(type) {
  return ts.isTypeReferenceNode(type) ? type : ts.factory.createParenthesizedType(type);
}

/** Whether a type is the name of a limit: `keyof TLimits & string`. */
function isNameOf(type) {
  return (
    ts.isIntersectionTypeNode(type) &&
    type.types.some((one) => one.kind === ts.SyntaxKind.StringKeyword) &&
    type.types.some(ts.isTypeOperatorNode)
  );
}

/** Whether a type is there only for a message of the compiler. */
function isCheck(type) {
  return (
    ts.isTypeReferenceNode(type) &&
    /^(?:Fits|Of[A-Z]|GivenKey$|OwnConfig$)/.test(type.typeName.getText())
  );
}

function isParameter(type) {
  return ts.isTypeReferenceNode(type) && parameterOf(type) !== undefined;
}

/** The type parameter of this name, from the nearest declaration around it. */
function parameterOf(type) {
  const name = type.typeName.getText();
  for (let node = type.parent; node !== undefined; node = node.parent) {
    const found = node.typeParameters?.find((one) => one.name.text === name);
    if (found !== undefined) return found;
  }
  return undefined;
}
