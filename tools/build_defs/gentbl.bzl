"""TableGen rules for a prebuilt mlir-tblgen."""

TdInfo = provider(fields = ["srcs"])

def _td_library_impl(ctx):
    srcs = depset(ctx.files.srcs, transitive = [d[TdInfo].srcs for d in ctx.attr.deps])
    return [DefaultInfo(files = srcs), TdInfo(srcs = srcs)]

td_library = rule(
    implementation = _td_library_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".td"]),
        "deps": attr.label_list(providers = [TdInfo]),
    },
)

def _gentbl_impl(ctx):
    srcs = depset(
        [ctx.file.td_file] + ctx.files._mlir_td,
        transitive = [d[TdInfo].srcs for d in ctx.attr.deps],
    )
    include = ctx.files._anchor[0].path.split("/include/")[0] + "/include"
    for out, opts in zip(ctx.outputs.outs, ctx.attr.opts):
        args = ctx.actions.args()
        args.add_all(opts.split(" "))
        args.add(ctx.file.td_file)
        args.add_all(["-I", ".", "-I", include, "-o", out])
        ctx.actions.run(
            outputs = [out],
            inputs = srcs,
            executable = ctx.executable._tblgen,
            arguments = [args],
            mnemonic = "MlirTblgen",
        )
    return [DefaultInfo(files = depset(ctx.outputs.outs))]

gentbl = rule(
    implementation = _gentbl_impl,
    output_to_genfiles = True,
    attrs = {
        "td_file": attr.label(allow_single_file = [".td"], mandatory = True),
        "deps": attr.label_list(providers = [TdInfo]),
        "outs": attr.output_list(mandatory = True),
        "opts": attr.string_list(mandatory = True),
        "_mlir_td": attr.label(default = "@llvm//:td_files"),
        "_anchor": attr.label(default = "@llvm//:include/mlir/IR/OpBase.td", allow_single_file = True),
        "_tblgen": attr.label(default = "@llvm//:mlir-tblgen", executable = True, cfg = "exec", allow_files = True),
    },
)

def gentbl_cc_library(name, td_file, tbl_outs, deps = [], **kwargs):
    """tbl_outs maps each generated file to its mlir-tblgen options; the .inc files become headers."""
    gentbl(
        name = name + "_gen",
        td_file = td_file,
        deps = deps,
        outs = tbl_outs.keys(),
        opts = [" ".join(v) for v in tbl_outs.values()],
        visibility = ["//visibility:public"],
    )
    native.cc_library(
        name = name,
        hdrs = [o for o in tbl_outs.keys() if o.endswith(".inc")],
        deps = ["@llvm//:mlir"],
        **kwargs
    )
