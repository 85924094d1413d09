/* The C interface of the runtime: load a bundle, open a device, launch. C99. */
#ifndef GMOE_RUNTIME_CORE_GROUPED_MOE_H
#define GMOE_RUNTIME_CORE_GROUPED_MOE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every function that can fail returns a status; gmoe_last_error() then says
 * in words what was found, what was expected and a way out. Handles are not
 * thread-safe while they are created or destroyed; launches from several
 * threads are. */
typedef enum {
  GMOE_OK = 0,
  GMOE_INVALID_ARGUMENT = 1,
  GMOE_INVALID_BUNDLE = 2,
  GMOE_NOT_FOUND = 3,
  GMOE_UNAVAILABLE = 4,
  GMOE_DEVICE_ERROR = 5,
  GMOE_HAZARD = 6
} gmoe_status;

typedef enum { GMOE_INPUT = 0, GMOE_OUTPUT = 1, GMOE_INOUT = 2 } gmoe_kind;

typedef enum {
  GMOE_F32 = 0,
  GMOE_F16 = 1,
  GMOE_BF16 = 2,
  GMOE_E4M3 = 3,
  GMOE_E5M2 = 4,
  GMOE_E8M0 = 5,
  GMOE_E2M1 = 6,
  GMOE_I8 = 7,
  GMOE_I32 = 8,
  GMOE_I64 = 9
} gmoe_element;

typedef enum {
  GMOE_STATIC = 0,   /* the extent is `value` elements */
  GMOE_FREE = 1,     /* the caller chooses the extent */
  GMOE_DEPENDENT = 2 /* the extent follows from the free ones */
} gmoe_extent_kind;

#define GMOE_MAX_RANK 5

typedef struct gmoe_module gmoe_module;         /* a loaded bundle */
typedef struct gmoe_device gmoe_device;         /* an open device */
typedef struct gmoe_executable gmoe_executable; /* a module on a device */

typedef struct {
  gmoe_extent_kind kind;
  int64_t value; /* of a static extent */
} gmoe_extent;

typedef struct {
  const char *name; /* lives as long as the module */
  gmoe_kind kind;
  gmoe_element element;
  uint32_t alignment; /* bytes, of the device address */
  uint32_t rank;
  gmoe_extent extents[GMOE_MAX_RANK];
  /* Elements from one index of an axis to the next, where there is padding
   * between rows; all 0 for a dense array, and always for the last axis. */
  int64_t strides[GMOE_MAX_RANK];
} gmoe_argument_info;

/* Rank 0 stands for a shape that is to be derived. Extents are in elements,
 * also for e2m1, which is stored two elements a byte. */
typedef struct {
  uint32_t rank;
  int64_t extents[GMOE_MAX_RANK];
} gmoe_shape;

typedef struct {
  uint64_t address; /* of the device */
  gmoe_shape shape;
} gmoe_argument;

/* The message of this thread's last failure; never null. */
const char *gmoe_last_error(void);

/* Bundles. The bytes are copied. */
gmoe_status gmoe_module_load(const void *bytes, size_t size,
                             gmoe_module **module);
gmoe_status gmoe_module_load_file(const char *path, gmoe_module **module);
void gmoe_module_destroy(gmoe_module *module);

size_t gmoe_entry_count(const gmoe_module *module);
/* The name of an entry, or null behind the last. */
const char *gmoe_entry_name(const gmoe_module *module, size_t entry);
/* The index of an entry; null or "" stands for the only one. */
gmoe_status gmoe_find_entry(const gmoe_module *module, const char *name,
                            size_t *entry);
size_t gmoe_argument_count(const gmoe_module *module, size_t entry);
gmoe_status gmoe_get_argument(const gmoe_module *module, size_t entry,
                              size_t argument, gmoe_argument_info *info);
/* Resolves in place: `shapes` has one shape an argument, rank 0 where it is to
 * be derived. */
gmoe_status gmoe_resolve_shapes(const gmoe_module *module, size_t entry,
                                gmoe_shape *shapes, size_t count);

/* Devices. allow_ptx: the driver may compile PTX where there is no cubin. */
gmoe_status gmoe_open_cuda(int ordinal, int allow_ptx, gmoe_device **device);
void gmoe_device_destroy(gmoe_device *device);
const char *gmoe_device_target(const gmoe_device *device); /* "sm_100a" */
gmoe_status gmoe_allocate(gmoe_device *device, uint64_t bytes,
                          uint64_t *address);
gmoe_status gmoe_release(gmoe_device *device, uint64_t address);
/* `stream` is a CUstream, or null for the default stream. */
gmoe_status gmoe_copy_to_device(gmoe_device *device, uint64_t address,
                                const void *source, uint64_t bytes,
                                void *stream);
gmoe_status gmoe_copy_to_host(gmoe_device *device, void *target,
                              uint64_t address, uint64_t bytes, void *stream);
gmoe_status gmoe_synchronize(gmoe_device *device, void *stream);

/* Loads the module's image for the device. Module and device must outlive the
 * executable. */
gmoe_status gmoe_executable_create(const gmoe_module *module,
                                   gmoe_device *device,
                                   gmoe_executable **executable);
void gmoe_executable_destroy(gmoe_executable *executable);
/* Shapes as in gmoe_resolve_shapes. */
gmoe_status gmoe_workspace_size(const gmoe_executable *executable, size_t entry,
                                const gmoe_shape *shapes, size_t count,
                                uint64_t *bytes);
/* Enqueues the entry. The workspace is 256-byte aligned, the caller's, and in
 * use until the stream has passed the launch. */
gmoe_status gmoe_launch(gmoe_executable *executable, size_t entry,
                        const gmoe_argument *arguments, size_t count,
                        uint64_t workspace, uint64_t workspace_bytes,
                        void *stream);
/* Reads offsets and pointer arrays back and checks them: a debugging aid. */
gmoe_status gmoe_check_inputs(gmoe_executable *executable, size_t entry,
                              const gmoe_argument *arguments, size_t count,
                              void *stream);

#ifdef __cplusplus
}
#endif

#endif /* GMOE_RUNTIME_CORE_GROUPED_MOE_H */
