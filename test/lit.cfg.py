import os

import lit.formats

config.name = "grouped-moe"
config.suffixes = [".mlir", ".test"]
config.test_format = lit.formats.ShTest()
config.test_exec_root = os.environ.get("TEST_TMPDIR", "/tmp")
config.environment["PATH"] = os.environ["PATH"]
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --dump-input=fail"
for name in ("GMOE_PTXAS", "GMOE_PYTHON", "TEST_TMPDIR", "HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# GMOE_VERIFY_ROUNDTRIP=1 runs every test that uses %gmoe-opt with a print-and-parse check on top.
roundtrip = " --verify-roundtrip" if os.environ.get("GMOE_VERIFY_ROUNDTRIP") == "1" else ""
config.substitutions.append(("%gmoe-opt", "gmoe-opt" + roundtrip))
config.substitutions.append(("%python", os.environ.get("GMOE_PYTHON") or "/usr/bin/python3"))
workspace = lit_config.params.get("workspace", ".")
config.substitutions.append(("%examples", os.path.join(workspace, "docs/examples")))
config.substitutions.append(("%workspace", workspace))
if os.environ.get("GMOE_PTXAS"):
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", os.environ["GMOE_PTXAS"]))
if os.environ.get("GMOE_PYTHON"):
    # A Python with numpy and ml_dtypes.
    config.available_features.add("oracle")

for folder in os.environ["PATH"].split(os.pathsep):
    plugin = os.path.join(folder, "libgrouped_moe_plugin.so")
    if os.path.exists(plugin):
        config.substitutions.append(("%plugin", plugin))
