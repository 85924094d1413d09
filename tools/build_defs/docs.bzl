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
