"""Direct dependencies of everything that the roots reach, one `importer imported` a line."""

EdgeInfo = provider(fields = ["edges"])

_ATTRIBUTES = ["deps", "srcs", "hdrs", "textual_hdrs", "data"]

def _edges_aspect_impl(target, ctx):
    edges = []
    transitive = []
    if target.label.workspace_name:
        # What other repositories do inside is none of ours.
        return [EdgeInfo(edges = depset())]
    for attribute in _ATTRIBUTES:
        for dep in getattr(ctx.rule.attr, attribute, []) or []:
            if type(dep) != "Target":
                continue
            if dep.label.package != target.label.package or dep.label.workspace_name:
                edges.append("%s %s" % (target.label, dep.label))
            if EdgeInfo in dep:
                transitive.append(dep[EdgeInfo].edges)
    return [EdgeInfo(edges = depset(edges, transitive = transitive))]

_edges_aspect = aspect(
    implementation = _edges_aspect_impl,
    attr_aspects = _ATTRIBUTES,
)

def _edges_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".txt")
    edges = depset(transitive = [root[EdgeInfo].edges for root in ctx.attr.roots])
    ctx.actions.write(out, "".join([e + "\n" for e in sorted(edges.to_list())]))
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles([out]))]

edges = rule(
    implementation = _edges_impl,
    attrs = {"roots": attr.label_list(aspects = [_edges_aspect])},
)
