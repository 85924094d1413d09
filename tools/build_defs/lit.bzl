"""One Bazel test for each lit file."""

def _lit_test_impl(ctx):
    exe = ctx.actions.declare_file(ctx.label.name + ".sh")
    bindir = ctx.label.package + "/" + ctx.label.name + "_bin"
    links = {bindir + "/" + f.basename: f for f in ctx.files.tools}
    ctx.actions.write(exe, """#!/bin/bash
export PATH="$PWD/%s:$PATH"
%sexec "${GMOE_PYTHON:-/usr/bin/python3}" -c 'import sys; sys.path.insert(0, "../llvm/utils/lit"); from lit.main import main; main()' \\
  -v --path "$PWD/%s" -D workspace="$PWD" %s
""" % (bindir, "export GMOE_VERIFY_ROUNDTRIP=1\n" if ctx.attr.roundtrip else "", bindir, ctx.file.src.short_path), is_executable = True)
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
        "roundtrip": attr.bool(doc = "whether what is parsed must also print and parse back"),
        "_lit": attr.label(default = "@llvm//:lit_files"),
    },
)

LIT_TOOLS = ["@llvm//:FileCheck", "@llvm//:not", "@llvm//:count"]

# Folders whose tests run twice: as they are, and with the round trip of everything they parse.
_ROUNDTRIP = ["test/dialect/", "test/lib/"]

def lit_test_suite(name, srcs, tools = [], **kwargs):
    """A test for each file of `srcs`; the .mlir files of dialects and passes get a second, `FILE.roundtrip.test`."""
    kwargs.setdefault("size", "small")
    twice = [p for p in _ROUNDTRIP if native.package_name().startswith(p)]
    tests = {s + ".test": (s, False) for s in srcs}
    tests.update({s + ".roundtrip.test": (s, True) for s in srcs if twice and s.endswith(".mlir")})
    for test, (src, roundtrip) in tests.items():
        lit_test(
            name = test,
            src = src,
            cfg = "//test:lit.cfg.py",
            tools = tools + LIT_TOOLS,
            roundtrip = roundtrip,
            **kwargs
        )
    native.test_suite(
        name = name,
        tests = tests.keys(),
    )
