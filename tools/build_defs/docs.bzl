"""Markdown from TableGen, kept in the tree: a test that compares, and a program that writes anew."""

def generated_docs(name, files):
    """`files` maps each Markdown file of this package to the label that TableGen makes it from.

    Makes `<name>_test`, which fails on a difference, and `update`, which `tools/dev docs` runs.
    """
    pairs = []
    data = []
    for kept, made in files.items():
        pairs += ["$(location %s)" % kept, "$(location %s)" % made]
        data += [kept, made]
    native.sh_test(
        name = name + "_test",
        size = "small",
        srcs = ["//tools/build_defs:compare_docs.sh"],
        args = pairs,
        data = data,
    )
    native.sh_binary(
        name = "update",
        srcs = ["//tools/build_defs:update_docs.sh"],
        args = [p for kept, made in files.items() for p in [native.package_name() + "/" + kept, "$(location %s)" % made]],
        data = files.values(),
    )

def _equations_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".md")
    ctx.actions.run(
        outputs = [out],
        inputs = [ctx.file.src],
        executable = ctx.executable._script,
        tools = [ctx.executable._opt],
        arguments = [ctx.executable._opt.path, ctx.file.src.path, out.path],
        mnemonic = "Equations",
    )
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles([out]))]

# The optimizer as it is built anyway, not once more for the build machine.
equations = rule(
    implementation = _equations_impl,
    attrs = {
        "src": attr.label(allow_single_file = [".mlir"], mandatory = True),
        "_opt": attr.label(default = "//tools:gmoe-opt", executable = True, cfg = "target"),
        "_script": attr.label(
            default = "//tools/build_defs:equations.sh",
            executable = True,
            cfg = "target",
            allow_single_file = True,
        ),
    },
)
