/**
 * A part of the demo in a frame, with a server of its own in a web worker. The part is loaded when a
 * reader comes to its place, which has the full height before. Without JavaScript, there is no such
 * place.
 */
import { withBase } from "vitepress";
import { defineComponent, h, onMounted, onUnmounted, ref } from "vue";

export default defineComponent({
  props: { path: { type: String, required: true }, title: { type: String, required: true } },
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
    return () =>
      h("div", { class: "live-part needs-js", ref: place }, [
        isSeen.value ? h("iframe", { src: withBase(props.path), title: props.title }) : undefined,
      ]);
  },
});
