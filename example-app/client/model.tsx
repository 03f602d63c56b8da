import { Part } from "./part.js";

export default function Model() {
  return (
    <Part title="Ask the model" lead="">
      <p>Soon.</p>
    </Part>
  );
}
