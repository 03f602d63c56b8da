import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"trpc-rate-limit/redis","description":"redisStore and redisChannel.","frontmatter":{"description":"redisStore and redisChannel."},"headers":[],"relativePath":"docs/reference/redis/index.md","filePath":"docs/reference/redis/index.md"}');
const _sfc_main = { name: "docs/reference/redis/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="trpc-rate-limitredis" tabindex="-1">trpc-rate-limit/redis <a class="header-anchor" href="#trpc-rate-limitredis" aria-label="Permalink to &quot;trpc-rate-limit/redis&quot;">​</a></h1><p><code>redisStore</code> and <code>redisChannel</code>.</p><h2 id="on-the-server" tabindex="-1">On the server <a class="header-anchor" href="#on-the-server" aria-label="Permalink to &quot;On the server&quot;">​</a></h2><table tabindex="0"><thead><tr><th>Name</th><th>About</th></tr></thead><tbody><tr><td><a href="/trpc-rate-limit/docs/reference/redis/redisStore"><code>redisStore</code></a></td><td>A store on Redis 6.2 or later, or on Valkey.</td></tr><tr><td><a href="/trpc-rate-limit/docs/reference/redis/redisChannel"><code>redisChannel</code></a></td><td>A channel through Redis, so that <code>watch</code> learns of the changes of other processes at once.</td></tr></tbody></table></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("docs/reference/redis/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
