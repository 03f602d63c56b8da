import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"trpc-rate-limit/testing","description":"A clock, limits without a server, and the tests of stores.","frontmatter":{"description":"A clock, limits without a server, and the tests of stores."},"headers":[],"relativePath":"docs/reference/testing/index.md","filePath":"docs/reference/testing/index.md"}');
const _sfc_main = { name: "docs/reference/testing/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="trpc-rate-limittesting" tabindex="-1">trpc-rate-limit/testing <a class="header-anchor" href="#trpc-rate-limittesting" aria-label="Permalink to &quot;trpc-rate-limit/testing&quot;">​</a></h1><p>A clock, limits without a server, and the tests of stores.</p><h2 id="in-tests" tabindex="-1">In tests <a class="header-anchor" href="#in-tests" aria-label="Permalink to &quot;In tests&quot;">​</a></h2><table tabindex="0"><thead><tr><th>Name</th><th>About</th></tr></thead><tbody><tr><td><a href="/trpc-rate-limit/docs/reference/testing/createManualClock"><code>createManualClock</code></a></td><td>Creates a clock that stands still until <code>advance</code> or <code>set</code> moves it.</td></tr><tr><td><a href="/trpc-rate-limit/docs/reference/testing/createFakeRateLimits"><code>createFakeRateLimits</code></a></td><td>An observer for tests of components, without a server.</td></tr><tr><td><a href="/trpc-rate-limit/docs/reference/testing/describeStore"><code>describeStore</code></a></td><td>Defines the tests of a store.</td></tr></tbody></table></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("docs/reference/testing/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
