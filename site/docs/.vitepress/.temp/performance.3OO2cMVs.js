const _imports_0 = "/trpc-rate-limit/docs/performance.svg";
export {
  _imports_0 as _
};
