"""Binds a prebuilt LLVM/MLIR 22 installation (Debian's llvm-22-dev and friends) as @llvm."""

def _impl(rctx):
    root = rctx.os.environ.get("LLVM_ROOT", rctx.attr.root)
    for d in ["include", "lib", "bin"]:
        if not rctx.path(root + "/" + d).exists:
            fail("LLVM not found under " + root + ": run 'tools/dev setup', or set LLVM_ROOT to an LLVM 22 installation with MLIR")
        rctx.symlink(root + "/" + d, d)
    if rctx.path(root + "/utils/lit").exists:
        rctx.symlink(root + "/utils/lit", "utils/lit")
    elif rctx.path(root + "/build/utils/lit").exists:
        rctx.symlink(root + "/build/utils/lit", "utils/lit")
    rctx.template("BUILD.bazel", rctx.attr.build, {"%LIBDIR%": root + "/lib"})

llvm_repository = repository_rule(
    implementation = _impl,
    local = True,
    environ = ["LLVM_ROOT"],
    attrs = {
        "root": attr.string(default = "/usr/lib/llvm-22"),
        "build": attr.label(default = "//third_party/llvm:llvm.BUILD"),
    },
)
