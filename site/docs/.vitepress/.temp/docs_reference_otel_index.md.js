import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"trpc-rate-limit/otel","description":"Metrics for OpenTelemetry.","frontmatter":{"description":"Metrics for OpenTelemetry."},"headers":[],"relativePath":"docs/reference/otel/index.md","filePath":"docs/reference/otel/index.md"}');
const _sfc_main = { name: "docs/reference/otel/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="trpc-rate-limitotel" tabindex="-1">trpc-rate-limit/otel <a class="header-anchor" href="#trpc-rate-limitotel" aria-label="Permalink to &quot;trpc-rate-limit/otel&quot;">​</a></h1><p>Metrics for OpenTelemetry.</p><h2 id="on-the-server" tabindex="-1">On the server <a class="header-anchor" href="#on-the-server" aria-label="Permalink to &quot;On the server&quot;">​</a></h2><table tabindex="0"><thead><tr><th>Name</th><th>About</th></tr></thead><tbody><tr><td><a href="/trpc-rate-limit/docs/reference/otel/rateLimitMetrics"><code>rateLimitMetrics</code></a></td><td><code>trpc-rate-limit/otel</code>: the metrics of a limiter, for OpenTelemetry.</td></tr></tbody></table></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("docs/reference/otel/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
