"""Who may depend on whom: a test for each row of the table in BUILD."""

# Compilers and rules that every target depends on.
_BUILD_SYSTEM = [
    "@bazel_tools//",
    "@local_config_cc//",
    "@local_config_platform//",
    "@platforms//",
    "@rules_cc//",
    "//external:",
]

def layering_test(name, targets, allowed):
    """Everything that `targets` reach, transitively, starts with one of `allowed`.

    Args:
      name: of the test.
      targets: labels of the package's libraries.
      allowed: prefixes of labels, such as "//runtime/abi:" or "@llvm//".
    """
    native.genquery(
        name = name + "_deps",
        expression = "deps(%s)" % " + ".join(targets),
        scope = targets,
        testonly = True,
    )
    native.sh_test(
        name = name,
        size = "small",
        srcs = ["check_deps.sh"],
        args = ["$(location :%s_deps)" % name] + allowed + _BUILD_SYSTEM,
        data = [":%s_deps" % name],
    )
