/**
 * The colours of code. The colours are variables of theme/style.css with the colours of the demo, so a
 * page and the live part in it look alike, in both schemes.
 */
const rule = (scope: string[], name: string) => ({
  scope,
  settings: { foreground: `var(--${name})` },
});

export const codeTheme = {
  name: "as-the-demo",
  type: "light",
  fg: "var(--text)",
  bg: "var(--vp-code-block-bg)",
  settings: [
    rule(["comment", "punctuation.definition.comment"], "quiet"),
    rule(
      ["keyword", "storage", "keyword.operator.new", "keyword.operator.expression"],
      "code-keyword",
    ),
    rule(["string", "punctuation.definition.string"], "code-string"),
    rule(["constant.numeric", "constant.language"], "code-number"),
    rule(["entity.name.type", "support.type", "support.class", "entity.name.tag"], "code-type"),
    // As in the demo, names, operators and the words of a command have the colour of the text.
    rule(
      [
        "keyword.operator",
        "storage.type.function.arrow",
        "support.type.property-name",
        "meta.template.expression",
        "string.unquoted.argument",
      ],
      "text",
    ),
  ],
} as const;
