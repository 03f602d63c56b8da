import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"trpc-rate-limit/hono","description":"Middleware for the routes of Hono.","frontmatter":{"description":"Middleware for the routes of Hono."},"headers":[],"relativePath":"docs/reference/hono/index.md","filePath":"docs/reference/hono/index.md"}');
const _sfc_main = { name: "docs/reference/hono/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="trpc-rate-limithono" tabindex="-1">trpc-rate-limit/hono <a class="header-anchor" href="#trpc-rate-limithono" aria-label="Permalink to &quot;trpc-rate-limit/hono&quot;">​</a></h1><p>Middleware for the routes of Hono.</p><h2 id="on-the-server" tabindex="-1">On the server <a class="header-anchor" href="#on-the-server" aria-label="Permalink to &quot;On the server&quot;">​</a></h2><table tabindex="0"><thead><tr><th>Name</th><th>About</th></tr></thead><tbody><tr><td><a href="/trpc-rate-limit/docs/reference/hono/createRateLimitHono"><code>createRateLimitHono</code></a></td><td><code>rateLimited(&quot;sendMessage&quot;)</code> is middleware of Hono; see <code>HonoRateLimited</code>.</td></tr></tbody></table><h2 id="also-exported" tabindex="-1">Also exported <a class="header-anchor" href="#also-exported" aria-label="Permalink to &quot;Also exported&quot;">​</a></h2><p><a href="/trpc-rate-limit/docs/reference/trpc/keys#keyanswer"><code>KeyAnswer</code></a>, <a href="/trpc-rate-limit/docs/reference/trpc/keys#shared_bucket"><code>SHARED_BUCKET</code></a>, <a href="/trpc-rate-limit/docs/reference/trpc/keys#sharedbucket"><code>SharedBucket</code></a>.</p></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("docs/reference/hono/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
