/** The limit of the form as code, to copy. */
import { CodeLines, CopyButton } from "../shared/page/code-lines.js";
import { configOfChoice } from "./choice.js";
import { codeOfLimit } from "./code-of-limit.js";
import { piecesOf } from "./code-pieces.js";
import { choiceOfDraft } from "./draft.js";
import type { Setting } from "./use-setting.js";
import "./limit-code.css";

const TITLE = "The code of this limit";

export function LimitCode({ setting }: { setting: Setting }) {
  const { code, problem = "" } = codeOf(setting);
  return (
    <div className="card limit-code">
      <div className="code-head">
        <h2>{TITLE}</h2>
        {code !== undefined && <CopyButton text={code} what="the code of this limit" />}
      </div>
      <CodeLines lines={piecesOf(code ?? problem)} label={TITLE} />
    </div>
  );
}

function codeOf({ config, draft }: Setting): { code?: string; problem?: string } {
  if (!config) return {};
  try {
    return { code: codeOfLimit(configOfChoice(choiceOfDraft(draft))) };
  } catch (error) {
    return { problem: `// ${(error as Error).message}` };
  }
}
