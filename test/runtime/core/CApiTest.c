/* The C interface, compiled as C99: loads, asks, launches on a fake device. */
#include "test/runtime/core/CApiFixture.h"

#include <stdio.h>
#include <string.h>

static int failures = 0;

static void expect(int condition, const char *what) {
  if (!condition) {
    printf("failed: %s (last error: %s)\n", what, gmoe_last_error());
    ++failures;
  }
}

static void checkQueries(const gmoe_module *module) {
  gmoe_argument_info info;
  size_t entry = 7;
  expect(gmoe_entry_count(module) == 1, "one entry");
  expect(strcmp(gmoe_entry_name(module, 0), "gemm") == 0, "its name");
  expect(gmoe_entry_name(module, 1) == NULL, "no second entry");
  expect(gmoe_find_entry(module, NULL, &entry) == GMOE_OK && entry == 0,
         "the only entry");
  expect(gmoe_find_entry(module, "conv", &entry) == GMOE_NOT_FOUND,
         "no entry conv");
  expect(strstr(gmoe_last_error(), "no entry \"conv\", it has gemm") != NULL,
         "message of a missing entry");
  expect(gmoe_argument_count(module, 0) == 3, "three arguments");
  expect(gmoe_get_argument(module, 0, 2, &info) == GMOE_OK, "argument 2");
  expect(strcmp(info.name, "out") == 0 && info.kind == GMOE_OUTPUT &&
             info.element == GMOE_F32 && info.rank == 2 &&
             info.extents[0].kind == GMOE_DEPENDENT &&
             info.extents[1].kind == GMOE_STATIC && info.extents[1].value == 32,
         "argument 2's facts");
  expect(gmoe_get_argument(module, 0, 3, &info) == GMOE_NOT_FOUND,
         "no argument 3");
}

static void checkLaunch(const gmoe_module *module, gmoe_device *device) {
  gmoe_executable *executable = NULL;
  gmoe_shape shapes[3];
  gmoe_argument arguments[3];
  uint64_t bytes = 0, workspace = 0;
  size_t i;
  memset(shapes, 0, sizeof(shapes));
  shapes[0].rank = 2;
  shapes[0].extents[0] = 300;
  shapes[0].extents[1] = 64;
  expect(gmoe_resolve_shapes(module, 0, shapes, 3) == GMOE_OK, "shapes");
  expect(shapes[2].rank == 2 && shapes[2].extents[0] == 3, "derived shape");
  expect(gmoe_executable_create(module, device, &executable) == GMOE_OK,
         "executable");
  expect(gmoe_workspace_size(executable, 0, shapes, 3, &bytes) == GMOE_OK &&
             bytes == 1380,
         "workspace");
  expect(gmoe_allocate(device, bytes, &workspace) == GMOE_OK, "allocation");
  for (i = 0; i < 3; ++i) {
    arguments[i].shape = shapes[i];
    expect(gmoe_allocate(device, 65536, &arguments[i].address) == GMOE_OK,
           "allocation");
  }
  expect(gmoe_launch(executable, 0, arguments, 3, workspace, bytes, NULL) ==
             GMOE_OK,
         "launch");
  expect(gmoe_launch(executable, 0, arguments, 2, workspace, bytes, NULL) ==
             GMOE_INVALID_ARGUMENT,
         "launch with two arguments");
  expect(gmoe_launch(executable, 1, arguments, 3, workspace, bytes, NULL) ==
             GMOE_NOT_FOUND,
         "launch of entry 1");
  arguments[0].shape.rank = 6;
  expect(gmoe_launch(executable, 0, arguments, 3, workspace, bytes, NULL) ==
             GMOE_INVALID_ARGUMENT,
         "launch with rank 6");
  expect(gmoe_release(device, workspace) == GMOE_OK, "release");
  gmoe_executable_destroy(executable);
}

int main(void) {
  gmoe_module *module = NULL;
  gmoe_device *device = makeFakeDevice();
  size_t size = 0;
  const void *bytes = makeBundle(&size);
  expect(gmoe_module_load("junk", 4, &module) == GMOE_INVALID_BUNDLE &&
             module == NULL,
         "junk is refused");
  expect(gmoe_module_load_file("/nonexistent.gmoe", &module) == GMOE_NOT_FOUND,
         "a missing file is refused");
  expect(gmoe_module_load(bytes, size, &module) == GMOE_OK, "load");
  if (module) {
    checkQueries(module);
    checkLaunch(module, device);
  }
  expect(strcmp(gmoe_device_target(device), "sm_100a") == 0, "target");
  gmoe_module_destroy(module);
  gmoe_device_destroy(device);
  if (gmoe_open_cuda(1000, 0, &device) == GMOE_UNAVAILABLE) {
    expect(strstr(gmoe_last_error(), "emulator") != NULL, "a way out");
  } else {
    expect(0, "device 1000 is unavailable");
  }
  if (failures == 0) {
    printf("passed\n");
  }
  return failures != 0;
}
