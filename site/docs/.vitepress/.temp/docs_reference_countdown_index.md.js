import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"trpc-rate-limit/countdown","description":"The countdown, without tRPC and TanStack Query.","frontmatter":{"description":"The countdown, without tRPC and TanStack Query."},"headers":[],"relativePath":"docs/reference/countdown/index.md","filePath":"docs/reference/countdown/index.md"}');
const _sfc_main = { name: "docs/reference/countdown/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="trpc-rate-limitcountdown" tabindex="-1">trpc-rate-limit/countdown <a class="header-anchor" href="#trpc-rate-limitcountdown" aria-label="Permalink to &quot;trpc-rate-limit/countdown&quot;">​</a></h1><p>The countdown, without tRPC and TanStack Query.</p><h2 id="also-exported" tabindex="-1">Also exported <a class="header-anchor" href="#also-exported" aria-label="Permalink to &quot;Also exported&quot;">​</a></h2><p><a href="/trpc-rate-limit/docs/reference/react/RateLimitCountdown"><code>RateLimitCountdown</code></a>, <a href="/trpc-rate-limit/docs/reference/react/RateLimitCountdown#ratelimitcountdownprops"><code>RateLimitCountdownProps</code></a>, <a href="/trpc-rate-limit/docs/reference/react/useCountdown"><code>useCountdown</code></a>, <a href="/trpc-rate-limit/docs/reference/react/RateLimitCountdown#countdownlabels"><code>CountdownLabels</code></a>, <a href="/trpc-rate-limit/docs/reference/react/RateLimitCountdown#countdownwords"><code>CountdownWords</code></a>.</p></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("docs/reference/countdown/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
