/** The playground without its numbers, for a frame in docs/limits.md. */
import { useState } from "react";
import { createBucketHistory } from "../../../example-app/playground/bucket-history.js";
import { BucketPlot } from "../../../example-app/playground/bucket-plot.js";
import { CallGate } from "../../../example-app/playground/call-gate.js";
import { Calls } from "../../../example-app/playground/calls.js";
import { Presets } from "../../../example-app/playground/presets.js";
import { useCalls } from "../../../example-app/playground/use-calls.js";
import { useSetting } from "../../../example-app/playground/use-setting.js";
import { useSnapshots } from "../../../example-app/playground/use-snapshots.js";
import { show } from "../show.js";
import "../../../example-app/playground/page.css";

// An address of the bucket alone. With an address of the playground, each chosen limit would become a
// step back.
history.replaceState(null, "", "#bucket");

function Bucket() {
  const [bucket] = useState(createBucketHistory);
  useSnapshots(bucket);
  const [gate] = useState(() => new CallGate(bucket));
  const setting = useSetting(bucket, gate);
  const calls = useCalls(bucket, gate, setting);
  return (
    <div className="playground">
      <h1>A limit to try</h1>
      <div className="card bench">
        <Presets setting={setting} problem={calls.problem} />
        <Calls setting={setting} calls={calls} />
        <BucketPlot history={bucket} />
      </div>
    </div>
  );
}

show(<Bucket />);
