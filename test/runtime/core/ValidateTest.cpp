// One refusal for each semantic check of a bundle.
#include "test/runtime/core/TestBundle.h"

#include <gtest/gtest.h>

#include <functional>

// Inside the namespace: the standard library has a global `abi` too.
namespace gmoe::test {
namespace {

struct Case {
  const char *message;
  std::function<void(abi::BundleT &, abi::EntryT &)> alter;
};

void PrintTo(const Case &c, std::ostream *os) { *os << c.message; }

class Validate : public testing::TestWithParam<Case> {};

TEST_P(Validate, Refuses) {
  abi::BundleT bundle = gemmBundle();
  GetParam().alter(bundle, *bundle.entries[0]);
  Expected<Module> module = Module::load(abi::writeBundle(bundle));
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.status().code(), StatusCode::InvalidBundle);
  EXPECT_NE(module.status().message().find(GetParam().message),
            std::string::npos)
      << module.status().message();
}

abi::TensorMapRecipeT &map(abi::EntryT &entry) {
  return *entry.launches[1]->params[0]->tensor_map;
}

const Case cases[] = {
    {"expression 12 refers to expression 12, expected an earlier one",
     [](auto &, auto &e) {
       e.exprs.resize(12);
       e.exprs.emplace_back(0, 12, 0, abi::ExprKind::Add);
     }},
    {"expression 0 has kind 77",
     [](auto &, auto &e) {
       e.exprs[0] = abi::Expr(0, 0, 0, static_cast<abi::ExprKind>(77));
     }},
    {"takes an extent of argument 3 of 3",
     [](auto &, auto &e) {
       e.exprs[0] = abi::Expr(0, 3, 0, abi::ExprKind::Dim);
     }},
    {"takes the extent of axis 2 of argument 0, which has rank 2",
     [](auto &, auto &e) {
       e.exprs[0] = abi::Expr(0, 0, 2, abi::ExprKind::Dim);
     }},
    {"takes an extent that only expression 8 computes",
     [](auto &, auto &e) {
       e.exprs[0] = abi::Expr(0, 2, 0, abi::ExprKind::Dim);
     }},
    {"argument 0 \"a\" axis 0 depends on the device's multiprocessor count",
     [](auto &, auto &e) {
       e.exprs[0] = abi::Expr(0, 0, 0, abi::ExprKind::SmCount);
     }},
    {"argument 0 \"a\" axis 1 has extent -64",
     [](auto &, auto &e) {
       e.exprs[1] = abi::Expr(-64, 0, 0, abi::ExprKind::Constant);
     }},
    {"argument 0 \"a\" axis 1 refers to expression 99",
     [](auto &, auto &e) { e.arguments[0]->shape[1] = 99; }},
    {"argument 0 \"a\" has rank 9, expected 1 to 8",
     [](auto &, auto &e) { e.arguments[0]->shape.resize(9); }},
    {"argument 1 \"offsets\" has rank 0",
     [](auto &, auto &e) { e.arguments[1]->shape.clear(); }},
    {"argument 0 \"a\" has alignment 24 bytes, expected a power of two",
     [](auto &, auto &e) { e.arguments[0]->alignment = 24; }},
    {"argument 0 \"a\" has multiples of 1 axes, but rank 2",
     [](auto &, auto &e) { e.arguments[0]->multiples = {32}; }},
    {"argument 0 \"a\" axis 0 is a multiple of 0, expected 1 or more",
     [](auto &, auto &e) { e.arguments[0]->multiples = {0, 1}; }},
    {"argument 0 \"a\" has an unknown element type",
     [](auto &, auto &e) {
       e.arguments[0]->element = static_cast<abi::ElementType>(50);
     }},
    {"an argument without a name",
     [](auto &, auto &e) { e.arguments[0]->name.clear(); }},
    {"control character",
     [](auto &, auto &e) { e.arguments[0]->name = "a\nb"; }},
    {"whose name has 5000 bytes, limit 4096",
     [](auto &, auto &e) { e.arguments[0]->name.assign(5000, 'x'); }},
    {"offsets contract 0 refers to argument 9 of 3",
     [](auto &, auto &e) { e.offsets[0]->argument = 9; }},
    {"offsets contract 0 expects a one-dimensional i32 or i64 argument",
     [](auto &, auto &e) { e.offsets[0]->argument = 0; }},
    {"pointers contract 0 expects an i64 argument",
     [](auto &, auto &e) {
       e.pointers.push_back(std::make_unique<abi::PointersContractT>());
       e.pointers[0]->shape = {1};
     }},
    {"pointers contract 0 refers to groups of argument 7 of 3",
     [](auto &, auto &e) {
       e.arguments[1]->element = abi::ElementType::I64;
       e.pointers.push_back(std::make_unique<abi::PointersContractT>());
       e.pointers[0]->argument = 1;
       e.pointers[0]->shape = {1};
       e.pointers[0]->groups = 7;
     }},
    {"pointers contract 0 expects groups in a one-dimensional i32 or i64 "
     "argument",
     [](auto &, auto &e) {
       e.arguments[1]->element = abi::ElementType::I64;
       e.pointers.push_back(std::make_unique<abi::PointersContractT>());
       e.pointers[0]->argument = 1;
       e.pointers[0]->shape = {1};
       e.pointers[0]->groups = 0;
     }},
    {"temporary 0 size refers to expression -1",
     [](auto &, auto &e) { e.temporaries[0]->bytes = -1; }},
    {"temporary 0 has alignment 512 bytes",
     [](auto &, auto &e) { e.temporaries[0]->alignment = 512; }},
    {"grid refers to expression 1000",
     [](auto &, auto &e) { e.launches[0]->grid[2] = 1000; }},
    {"needs three extents",
     [](auto &, auto &e) { e.launches[0]->block.pop_back(); }},
    {"has a block extent of 0 threads",
     [](auto &, auto &e) { e.launches[0]->block[1] = 0; }},
    {"has 2048 threads a CTA, limit 1024",
     [](auto &, auto &e) { e.launches[0]->block = {1024, 2, 1}; }},
    {"32 CTAs a cluster, limit 16",
     [](auto &, auto &e) { e.launches[0]->cluster = {16, 2, 1}; }},
    {"has 40000 bytes of parameters, limit 32764",
     [](auto &, auto &e) { e.launches[0]->param_bytes = 40000; }},
    {"parameter 3 ends at byte 28 of 24",
     [](auto &, auto &e) { e.launches[0]->param_bytes = 24; }},
    {"parameter 1 is at byte 12, expected a multiple of 8",
     [](auto &, auto &e) { e.launches[0]->params[1]->offset = 12; }},
    {"has two parameters at byte 0",
     [](auto &, auto &e) { e.launches[0]->params[1]->offset = 0; }},
    {"parameter 1 refers to temporary 2 of 2",
     [](auto &, auto &e) {
       e.launches[0]->params[1]->buffer = buffer(abi::BufferKind::Temporary, 2);
     }},
    {"parameter 1 names no buffer",
     [](auto &, auto &e) { e.launches[0]->params[1]->buffer.reset(); }},
    {"parameter 3 refers to expression -1",
     [](auto &, auto &e) { e.launches[0]->params[3]->expr = -1; }},
    {"fill 0 refers to argument 3 of 3",
     [](auto &, auto &e) {
       e.launches[1]->fills[0]->buffer = buffer(abi::BufferKind::Argument, 3);
     }},
    {"has no tensor map",
     [](auto &, auto &e) { e.launches[1]->params[0]->tensor_map.reset(); }},
    {"tensor map box of 257 elements on dimension 1, expected 1 to 256",
     [](auto &, auto &e) { map(e).box[1] = 257; }},
    {"tensor map of rank 2 with 0 strides",
     [](auto &, auto &e) { map(e).strides.clear(); }},
    {"unknown type (16)", [](auto &, auto &e) { map(e).type = 16; }},
    {"swizzle (9)", [](auto &, auto &e) { map(e).swizzle = 9; }},
    {"launches kernel \"other\", which no image has",
     [](auto &, auto &e) { e.launches[1]->kernel = "other"; }},
    {"two entries named \"gemm\"",
     [](auto &b, auto &) { b.entries.push_back(gemmEntry()); }},
    {"image for sm_100a is empty",
     [](auto &b, auto &) { b.images[0]->data.clear(); }},
    {"an image without a name",
     [](auto &b, auto &) { b.images[0]->target.clear(); }},
    {"bundle has 257 images, limit 256",
     [](auto &b, auto &) {
       while (b.images.size() < 257) {
         addImage(b, "sm_90a", abi::ImageFormat::Ptx, "x");
       }
     }},
    {"1025 launches in one entry, limit 1024",
     [](auto &, auto &e) {
       while (e.launches.size() < 1025) {
         e.launches.push_back(std::make_unique<abi::LaunchT>(*e.launches[0]));
       }
     }},
};

INSTANTIATE_TEST_SUITE_P(All, Validate, testing::ValuesIn(cases));

} // namespace
} // namespace gmoe::test
