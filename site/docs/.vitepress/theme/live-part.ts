/**
 * A part of the demo in a frame, with a server of its own in a web worker. The part is loaded when a
 * reader comes to its place, which has the full height before. Without JavaScript, there is no such
 * place. An example has the code that it runs below it.
 */
import { withBase } from "vitepress";
import { defineComponent, h, onMounted, onUnmounted, type PropType, ref } from "vue";

export default defineComponent({
  props: {
    path: { type: String, required: true },
    title: { type: String, required: true },
    /** On a wide page, on a phone, and on the narrowest phone, px. */
    heights: { type: Array as PropType<number[]>, required: true },
  },
  setup(props) {
    const place = ref<HTMLElement>();
    const isSeen = ref(false);
    let observer: IntersectionObserver | undefined;
    onMounted(() => {
      observer = new IntersectionObserver((entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        observer?.disconnect();
        isSeen.value = true;
      });
      observer.observe(place.value!);
    });
    onUnmounted(() => observer?.disconnect());
    const [wide, narrow = wide, narrowest = narrow] = props.heights;
    const style = {
      "--wide": `${wide}px`,
      "--narrow": `${narrow}px`,
      "--narrowest": `${narrowest}px`,
    };
    const isExample = props.path.startsWith("/examples/");
    return () =>
      h("div", { class: ["live-part needs-js", { example: isExample }], style, ref: place }, [
        isSeen.value ? h("iframe", { src: withBase(props.path), title: props.title }) : undefined,
      ]);
  },
});
