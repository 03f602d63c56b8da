/** Stands in for the button of shadcn, which an application has at `@/components/ui/button`. */
import type { ComponentProps } from "react";

export function Button({
  variant = "default",
  size = "default",
  ...props
}: ComponentProps<"button"> & {
  variant?: "default" | "destructive" | "outline" | "secondary" | "ghost" | "link";
  size?: "default" | "sm" | "lg" | "icon";
}) {
  return <button {...props} data-variant={variant} data-size={size} />;
}
