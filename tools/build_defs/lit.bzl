"""One Bazel test for each lit file."""

def _lit_test_impl(ctx):
    exe = ctx.actions.declare_file(ctx.label.name + ".sh")
    bindir = ctx.label.package + "/" + ctx.label.name + "_bin"
    links = {bindir + "/" + f.basename: f for f in ctx.files.tools}
    ctx.actions.write(exe, """#!/bin/bash
export PATH="$PWD/%s:$PATH"
exec "${GMOE_PYTHON:-/usr/bin/python3}" -c 'import sys; sys.path.insert(0, "../llvm/utils/lit"); from lit.main import main; main()' \\
  -v --path "$PWD/%s" -D workspace="$PWD" %s
""" % (bindir, bindir, ctx.file.src.short_path), is_executable = True)
    runfiles = ctx.runfiles(
        files = [ctx.file.src, ctx.file.cfg] + ctx.files.data + ctx.files.tools + ctx.files._lit,
        symlinks = links,
    )
    for t in ctx.attr.tools:
        runfiles = runfiles.merge(t[DefaultInfo].default_runfiles)
    return [DefaultInfo(executable = exe, runfiles = runfiles)]

lit_test = rule(
    implementation = _lit_test_impl,
    test = True,
    attrs = {
        "src": attr.label(allow_single_file = True, mandatory = True),
        "cfg": attr.label(allow_single_file = True, mandatory = True),
        "tools": attr.label_list(allow_files = True),
        "data": attr.label_list(allow_files = True),
        "_lit": attr.label(default = "@llvm//:lit_files"),
    },
)

LIT_TOOLS = ["@llvm//:FileCheck", "@llvm//:not", "@llvm//:count"]

def lit_test_suite(name, srcs, tools = [], **kwargs):
    kwargs.setdefault("size", "small")
    for s in srcs:
        lit_test(
            name = s + ".test",
            src = s,
            cfg = "//test:lit.cfg.py",
            tools = tools + LIT_TOOLS,
            **kwargs
        )
    native.test_suite(
        name = name,
        tests = [s + ".test" for s in srcs],
    )
