/** A button that goes away, by a press or by itself. Its focus then goes to an element that stays. */
import { type ButtonHTMLAttributes, type RefObject, useLayoutEffect, useRef } from "react";

interface PassingButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** Gets the focus, if the button has the focus when it goes away. */
  heir: RefObject<HTMLElement | null>;
}

export function PassingButton({ heir, ...rest }: PassingButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const element = button.current;
    // Runs while the button is still there. Without this, no element would have the focus.
    return () => {
      // oxlint-disable-next-line react-hooks/exhaustive-deps -- The heir may come later than the button.
      if (document.activeElement === element) heir.current?.focus();
    };
  }, [heir]);
  return <button {...rest} ref={button} />;
}
