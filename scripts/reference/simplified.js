/** Types in the words of those who call. */
import ts from "typescript";
import { textOf } from "./sources.js";

const TEXT = ts.factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword);

/**
 * A type in the words of those who call: the constraint in place of a type parameter, no arguments that are
 * type parameters, and no type that only checks an argument. Editors show the whole type.
 *
 * @param isExported whether a name is one of the package.
 * @param isOptional whether it may be left out, which says that it may be `undefined`.
 */
export function simplified(node, isExported, isOptional = false) {
  const isParameter = (type) =>
    ts.isTypeReferenceNode(type) && isParameterName(type.typeName.getText(), isExported);
  const isOfParameters = (type) =>
    isParameter(type) ||
    (ts.isTypeReferenceNode(type) &&
      type.typeArguments !== undefined &&
      !isExported(type.typeName.getText()) &&
      type.typeArguments.every(isOfParameters)) ||
    (ts.isTypeOperatorNode(type) && isOfParameters(type.type)) ||
    (ts.isIndexedAccessTypeNode(type) && isOfParameters(type.objectType)) ||
    (ts.isIntersectionTypeNode(type) && isOfParameters(type.types[0]));

  const visit = (type) => {
    if (ts.isIntersectionTypeNode(type)) {
      if (isNameOf(type)) return TEXT;
      const shown = type.types.filter((one) => !isCheck(one));
      if (shown.length === 1) return visit(shown[0]);
      return ts.factory.updateIntersectionTypeNode(
        type,
        ts.factory.createNodeArray(shown.map(visit)),
      );
    }
    if (isParameter(type)) {
      const constraint = constraintOf(type);
      const isShown = constraint !== undefined && (isText(constraint) || isNamed(constraint));
      return isShown ? visit(constraint) : type;
    }
    if (ts.isTypeReferenceNode(type) && type.typeArguments !== undefined) {
      const name = type.typeName.getText();
      if (!isExported(name) && /Names?$/.test(name)) return TEXT;
      if (name.startsWith("Middleware")) return ts.factory.createTypeReferenceNode(name);
      const own = type.typeArguments.filter((one) => !isExported(name) || !isOfParameters(one));
      const given = own.length === 0 ? undefined : ts.factory.createNodeArray(own.map(visit));
      return ts.factory.updateTypeReferenceNode(type, type.typeName, given);
    }
    return ts.visitEachChild(type, visit, undefined);
  };

  const isNamed = (type) =>
    ts.isUnionTypeNode(type)
      ? type.types.every(isNamed)
      : ts.isTypeReferenceNode(type) && isExported(type.typeName.getText());
  /** Text, or a list of texts, whatever the names of the type parameters. */
  const isText = (type) =>
    type.kind === ts.SyntaxKind.StringKeyword ||
    (ts.isUnionTypeNode(type) && type.types.every(isText)) ||
    ((ts.isTypeOperatorNode(type) || ts.isArrayTypeNode(type)) &&
      isText(type.elementType ?? type.type)) ||
    isNameOf(type) ||
    (isParameter(type) && constraintOf(type) !== undefined && isText(constraintOf(type)));

  return textOf(visit(isOptional ? withoutUndefined(node) : node), node.getSourceFile());
}

function withoutUndefined(type) {
  if (!ts.isUnionTypeNode(type)) return type;
  const others = type.types.filter((one) => one.kind !== ts.SyntaxKind.UndefinedKeyword);
  if (others.length === type.types.length) return type;
  const [first] = others;
  if (others.length > 1) return ts.factory.createUnionTypeNode(others);
  return ts.isParenthesizedTypeNode(first) ? first.type : first;
}

/** `keyof TLimits & string`: a name of a limit. */
function isNameOf(type) {
  return (
    ts.isIntersectionTypeNode(type) &&
    type.types.length === 2 &&
    type.types.some((one) => one.kind === ts.SyntaxKind.StringKeyword) &&
    type.types.some((one) => ts.isTypeOperatorNode(one))
  );
}

/** A type that is there for the message of the compiler alone. */
function isCheck(type) {
  return (
    ts.isTypeReferenceNode(type) &&
    /^(?:Fits|Of[A-Z]|ConfigsUnless|RouterWith)/.test(type.typeName.getText())
  );
}

function isParameterName(name, isExported) {
  return /^T[A-Z]\w*$/.test(name) && !name.startsWith("TRPC") && !isExported(name);
}

/** That of a type parameter, from the declaration around it that has it. */
function constraintOf(type) {
  const name = type.typeName.getText();
  for (let node = type.parent; node !== undefined; node = node.parent) {
    const found = node.typeParameters?.find((one) => one.name.text === name);
    if (found !== undefined) return found.constraint;
  }
  return undefined;
}
