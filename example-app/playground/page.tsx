/** The playground: choose the numbers of a limit, take tokens, and see what the algebra does. */
import code from "code:./minimal.tsx";
import { useState } from "react";
import { Part } from "../shared/page/pieces.js";
import { runningLink } from "./address.js";
import { createBucketHistory } from "./bucket-history.js";
import { BucketPlot } from "./bucket-plot.js";
import { CallGate } from "./call-gate.js";
import { Calls } from "./calls.js";
import { ChooseLimit } from "./choose-limit.js";
import { LimitCode } from "./limit-code.js";
import { MeasuredPrediction } from "./measured.js";
import { Numbers } from "./numbers.js";
import { Presets } from "./presets.js";
import { useCalls } from "./use-calls.js";
import { useSetting } from "./use-setting.js";
import { useSnapshots } from "./use-snapshots.js";
import "./page.css";

export default function Playground() {
  const [history] = useState(createBucketHistory);
  useSnapshots(history);
  const [gate] = useState(() => new CallGate(history));
  const setting = useSetting(history, gate);
  const calls = useCalls(history, gate, setting);
  const isRunning = calls.visitorsLeaveAt !== undefined;
  const { link } = setting;
  const wrong = setting.problem && `There is no such limit, so yours stays: ${setting.problem}.`;
  const problem = calls.problem ?? wrong;
  return (
    <Part
      title="Playground"
      code={code}
      lead="The line is predicted by this page. The points on it are the server’s answers."
    >
      <div className="playground">
        <div className="card bench">
          <Presets setting={setting} problem={problem} />
          <Calls setting={setting} calls={calls} />
          <MeasuredPrediction history={history} />
          <BucketPlot history={history} />
          <Numbers history={history} />
        </div>
        <ChooseLimit setting={setting} link={isRunning && link ? runningLink(link) : link} />
        <LimitCode setting={setting} />
      </div>
    </Part>
  );
}
