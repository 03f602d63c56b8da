import { Part } from "./part.js";

export default function LogIn() {
  return (
    <Part title="Log in" lead="">
      <p>Soon.</p>
    </Part>
  );
}
