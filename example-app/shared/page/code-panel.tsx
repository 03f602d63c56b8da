/** The code behind what a part shows, without decoration. The code is closed until the visitor opens it. */
import { CodeLines, CopyButton } from "./code-lines.js";
import { type Code, sourceOf } from "./code.js";

export function CodePanel({ code }: { code: Code }) {
  const folder = code.path.slice(0, code.path.lastIndexOf("/"));
  const source = sourceOf(folder);

  return (
    <details className="card code-panel">
      <summary>
        The code that does it <span>{`${code.lines.length} lines`}</span>
      </summary>
      <div className="code-head">
        <p>
          <span>
            The limit, the procedure and the component, without the decoration of this page. The
            part itself is in{" "}
          </span>
          {source === undefined ? <code>{folder}</code> : <a href={source}>{folder}</a>}
          <span>.</span>
        </p>
        <CopyButton text={code.text} what="the code" />
      </div>
      <CodeLines lines={code.lines} label="The code that does it" />
    </details>
  );
}
