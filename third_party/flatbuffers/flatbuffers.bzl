"""C++ header from a FlatBuffers schema, with Debian's flatc and headers."""

def flatbuffer_cc_library(name, src, **kwargs):
    out = src.replace(".fbs", "_generated.h")
    native.genrule(
        name = name + "_gen",
        srcs = [src],
        outs = [out],
        cmd = "flatc --cpp --scoped-enums -o $(@D) $(location %s)" % src,
    )
    native.cc_library(
        name = name,
        hdrs = [out],
        **kwargs
    )
