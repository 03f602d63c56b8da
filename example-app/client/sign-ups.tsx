import { Part } from "./part.js";

export default function SignUps() {
  return (
    <Part title="Sign-ups" lead="">
      <p>Soon.</p>
    </Part>
  );
}
