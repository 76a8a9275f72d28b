/* The interface of OpenMP 5.2 (chapter 18 of the specification). With this file, the slicer can
   parse programs that include <omp.h> even if LLVM's header is not installed. libclang rejects
   attributes in GCC's header. No program is compiled with this file, so the values that the
   specification leaves open are arbitrary. */

#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define STAIRCASE_OMP_DEFAULT(allocator) = allocator
extern "C" {
#else
#define STAIRCASE_OMP_DEFAULT(allocator)
#endif

typedef intptr_t omp_intptr_t;
typedef uintptr_t omp_uintptr_t;

/* Threads, teams and tasks. */
typedef enum omp_sched_t {
  omp_sched_static = 1,
  omp_sched_dynamic = 2,
  omp_sched_guided = 3,
  omp_sched_auto = 4,
  omp_sched_monotonic = (int)0x80000000u
} omp_sched_t;

void omp_set_num_threads(int num_threads);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
int omp_get_thread_num(void);
int omp_get_num_procs(void);
int omp_in_parallel(void);
void omp_set_dynamic(int dynamic_threads);
int omp_get_dynamic(void);
int omp_get_cancellation(void);
void omp_set_nested(int nested);
int omp_get_nested(void);
void omp_set_schedule(omp_sched_t kind, int chunk_size);
void omp_get_schedule(omp_sched_t *kind, int *chunk_size);
int omp_get_thread_limit(void);
int omp_get_supported_active_levels(void);
void omp_set_max_active_levels(int max_levels);
int omp_get_max_active_levels(void);
int omp_get_level(void);
int omp_get_ancestor_thread_num(int level);
int omp_get_team_size(int level);
int omp_get_active_level(void);
int omp_get_num_teams(void);
int omp_get_team_num(void);
void omp_set_num_teams(int num_teams);
int omp_get_max_teams(void);
void omp_set_teams_thread_limit(int thread_limit);
int omp_get_teams_thread_limit(void);
int omp_get_max_task_priority(void);
int omp_in_explicit_task(void);
int omp_in_final(void);

/* Affinity. */
typedef enum omp_proc_bind_t {
  omp_proc_bind_false = 0,
  omp_proc_bind_true = 1,
  omp_proc_bind_primary = 2,
  omp_proc_bind_master = omp_proc_bind_primary,
  omp_proc_bind_close = 3,
  omp_proc_bind_spread = 4
} omp_proc_bind_t;

omp_proc_bind_t omp_get_proc_bind(void);
int omp_get_num_places(void);
int omp_get_place_num_procs(int place_num);
void omp_get_place_proc_ids(int place_num, int *ids);
int omp_get_place_num(void);
int omp_get_partition_num_places(void);
void omp_get_partition_place_nums(int *place_nums);
void omp_set_affinity_format(const char *format);
size_t omp_get_affinity_format(char *buffer, size_t size);
void omp_display_affinity(const char *format);
size_t omp_capture_affinity(char *buffer, size_t size, const char *format);

/* Resources, devices and their memory. */
typedef enum omp_pause_resource_t {
  omp_pause_soft = 1,
  omp_pause_hard = 2
} omp_pause_resource_t;

enum { omp_initial_device = -1, omp_invalid_device = -2 };

typedef void *omp_depend_t;

int omp_pause_resource(omp_pause_resource_t kind, int device_num);
int omp_pause_resource_all(omp_pause_resource_t kind);
void omp_set_default_device(int device_num);
int omp_get_default_device(void);
int omp_get_num_devices(void);
int omp_get_device_num(void);
int omp_is_initial_device(void);
int omp_get_initial_device(void);
void *omp_target_alloc(size_t size, int device_num);
void omp_target_free(void *device_ptr, int device_num);
int omp_target_is_present(const void *ptr, int device_num);
int omp_target_is_accessible(const void *ptr, size_t size, int device_num);
int omp_target_memcpy(void *dst, const void *src, size_t length, size_t dst_offset,
                      size_t src_offset, int dst_device_num, int src_device_num);
int omp_target_memcpy_rect(void *dst, const void *src, size_t element_size, int num_dims,
                           const size_t *volume, const size_t *dst_offsets,
                           const size_t *src_offsets, const size_t *dst_dimensions,
                           const size_t *src_dimensions, int dst_device_num, int src_device_num);
int omp_target_memcpy_async(void *dst, const void *src, size_t length, size_t dst_offset,
                            size_t src_offset, int dst_device_num, int src_device_num,
                            int depobj_count, omp_depend_t *depobj_list);
int omp_target_memcpy_rect_async(void *dst, const void *src, size_t element_size, int num_dims,
                                 const size_t *volume, const size_t *dst_offsets,
                                 const size_t *src_offsets, const size_t *dst_dimensions,
                                 const size_t *src_dimensions, int dst_device_num,
                                 int src_device_num, int depobj_count, omp_depend_t *depobj_list);
int omp_target_associate_ptr(const void *host_ptr, const void *device_ptr, size_t size,
                             size_t device_offset, int device_num);
int omp_target_disassociate_ptr(const void *ptr, int device_num);
void *omp_get_mapped_ptr(const void *ptr, int device_num);

/* Locks. */
typedef struct omp_lock_t {
  void *staircase_lock;
} omp_lock_t;
typedef struct omp_nest_lock_t {
  void *staircase_lock;
} omp_nest_lock_t;
typedef enum omp_sync_hint_t {
  omp_sync_hint_none = 0x0,
  omp_lock_hint_none = omp_sync_hint_none,
  omp_sync_hint_uncontended = 0x1,
  omp_lock_hint_uncontended = omp_sync_hint_uncontended,
  omp_sync_hint_contended = 0x2,
  omp_lock_hint_contended = omp_sync_hint_contended,
  omp_sync_hint_nonspeculative = 0x4,
  omp_lock_hint_nonspeculative = omp_sync_hint_nonspeculative,
  omp_sync_hint_speculative = 0x8,
  omp_lock_hint_speculative = omp_sync_hint_speculative
} omp_sync_hint_t;
typedef omp_sync_hint_t omp_lock_hint_t;

void omp_init_lock(omp_lock_t *lock);
void omp_init_lock_with_hint(omp_lock_t *lock, omp_sync_hint_t hint);
void omp_destroy_lock(omp_lock_t *lock);
void omp_set_lock(omp_lock_t *lock);
void omp_unset_lock(omp_lock_t *lock);
int omp_test_lock(omp_lock_t *lock);
void omp_init_nest_lock(omp_nest_lock_t *lock);
void omp_init_nest_lock_with_hint(omp_nest_lock_t *lock, omp_sync_hint_t hint);
void omp_destroy_nest_lock(omp_nest_lock_t *lock);
void omp_set_nest_lock(omp_nest_lock_t *lock);
void omp_unset_nest_lock(omp_nest_lock_t *lock);
int omp_test_nest_lock(omp_nest_lock_t *lock);

/* Time, events and tools. */
typedef enum omp_event_handle_t { staircase_omp_event = UINTPTR_MAX } omp_event_handle_t;
typedef enum omp_control_tool_t {
  omp_control_tool_start = 1,
  omp_control_tool_pause = 2,
  omp_control_tool_flush = 3,
  omp_control_tool_end = 4
} omp_control_tool_t;
typedef enum omp_control_tool_result_t {
  omp_control_tool_notool = -2,
  omp_control_tool_nocallback = -1,
  omp_control_tool_success = 0,
  omp_control_tool_ignored = 1
} omp_control_tool_result_t;

double omp_get_wtime(void);
double omp_get_wtick(void);
void omp_fulfill_event(omp_event_handle_t event);
int omp_control_tool(int command, int modifier, void *arg);
void omp_display_env(int verbose);

/* Interoperability. */
typedef void *omp_interop_t;
#define omp_interop_none 0
typedef enum omp_interop_property_t {
  omp_ipr_fr_id = -1,
  omp_ipr_fr_name = -2,
  omp_ipr_vendor = -3,
  omp_ipr_vendor_name = -4,
  omp_ipr_device_num = -5,
  omp_ipr_platform = -6,
  omp_ipr_device = -7,
  omp_ipr_device_context = -8,
  omp_ipr_targetsync = -9,
  omp_ipr_first = -9
} omp_interop_property_t;
typedef enum omp_interop_rc_t {
  omp_irc_no_value = 1,
  omp_irc_success = 0,
  omp_irc_empty = -1,
  omp_irc_out_of_range = -2,
  omp_irc_type_int = -3,
  omp_irc_type_ptr = -4,
  omp_irc_type_str = -5,
  omp_irc_other = -6
} omp_interop_rc_t;
typedef enum omp_interop_fr_t {
  omp_ifr_cuda = 1,
  omp_ifr_cuda_driver = 2,
  omp_ifr_opencl = 3,
  omp_ifr_sycl = 4,
  omp_ifr_hip = 5,
  omp_ifr_level_zero = 6,
  omp_ifr_last = omp_ifr_level_zero
} omp_interop_fr_t;

int omp_get_num_interop_properties(const omp_interop_t interop);
omp_intptr_t omp_get_interop_int(const omp_interop_t interop, omp_interop_property_t property_id,
                                 int *ret_code);
void *omp_get_interop_ptr(const omp_interop_t interop, omp_interop_property_t property_id,
                          int *ret_code);
const char *omp_get_interop_str(const omp_interop_t interop, omp_interop_property_t property_id,
                                int *ret_code);
const char *omp_get_interop_name(const omp_interop_t interop, omp_interop_property_t property_id);
const char *omp_get_interop_type_desc(const omp_interop_t interop,
                                      omp_interop_property_t property_id);
const char *omp_get_interop_rc_desc(const omp_interop_t interop, omp_interop_rc_t ret_code);

/* Memory spaces and allocators. */
#ifdef __cplusplus
#define STAIRCASE_OMP_HANDLE : omp_uintptr_t
#else
#define STAIRCASE_OMP_HANDLE
#endif
typedef enum omp_memspace_handle_t STAIRCASE_OMP_HANDLE {
  omp_default_mem_space = 0,
  omp_large_cap_mem_space = 1,
  omp_const_mem_space = 2,
  omp_high_bw_mem_space = 3,
  omp_low_lat_mem_space = 4
} omp_memspace_handle_t;
typedef enum omp_allocator_handle_t STAIRCASE_OMP_HANDLE {
  omp_null_allocator = 0,
  omp_default_mem_alloc = 1,
  omp_large_cap_mem_alloc = 2,
  omp_const_mem_alloc = 3,
  omp_high_bw_mem_alloc = 4,
  omp_low_lat_mem_alloc = 5,
  omp_cgroup_mem_alloc = 6,
  omp_pteam_mem_alloc = 7,
  omp_thread_mem_alloc = 8
} omp_allocator_handle_t;
typedef enum omp_alloctrait_key_t {
  omp_atk_sync_hint = 1,
  omp_atk_alignment = 2,
  omp_atk_access = 3,
  omp_atk_pool_size = 4,
  omp_atk_fallback = 5,
  omp_atk_fb_data = 6,
  omp_atk_pinned = 7,
  omp_atk_partition = 8
} omp_alloctrait_key_t;
typedef enum omp_alloctrait_value_t {
  omp_atv_false = 0,
  omp_atv_true = 1,
  omp_atv_contended = 3,
  omp_atv_uncontended = 4,
  omp_atv_serialized = 5,
  omp_atv_sequential = omp_atv_serialized,
  omp_atv_private = 6,
  omp_atv_all = 7,
  omp_atv_thread = 8,
  omp_atv_pteam = 9,
  omp_atv_cgroup = 10,
  omp_atv_default_mem_fb = 11,
  omp_atv_null_fb = 12,
  omp_atv_abort_fb = 13,
  omp_atv_allocator_fb = 14,
  omp_atv_environment = 15,
  omp_atv_nearest = 16,
  omp_atv_blocked = 17,
  omp_atv_interleaved = 18
} omp_alloctrait_value_t;
#define omp_atv_default ((omp_uintptr_t) - 1)
typedef struct omp_alloctrait_t {
  omp_alloctrait_key_t key;
  omp_uintptr_t value;
} omp_alloctrait_t;

omp_allocator_handle_t omp_init_allocator(omp_memspace_handle_t memspace, int ntraits,
                                          const omp_alloctrait_t traits[]);
void omp_destroy_allocator(omp_allocator_handle_t allocator);
void omp_set_default_allocator(omp_allocator_handle_t allocator);
omp_allocator_handle_t omp_get_default_allocator(void);
void *omp_alloc(size_t size,
                omp_allocator_handle_t allocator STAIRCASE_OMP_DEFAULT(omp_null_allocator));
void *omp_aligned_alloc(size_t alignment, size_t size,
                        omp_allocator_handle_t allocator STAIRCASE_OMP_DEFAULT(omp_null_allocator));
void *omp_calloc(size_t nmemb, size_t size,
                 omp_allocator_handle_t allocator STAIRCASE_OMP_DEFAULT(omp_null_allocator));
void *omp_aligned_calloc(size_t alignment, size_t nmemb, size_t size,
                         omp_allocator_handle_t allocator
                             STAIRCASE_OMP_DEFAULT(omp_null_allocator));
void *omp_realloc(void *ptr, size_t size,
                  omp_allocator_handle_t allocator STAIRCASE_OMP_DEFAULT(omp_null_allocator),
                  omp_allocator_handle_t free_allocator
                      STAIRCASE_OMP_DEFAULT(omp_null_allocator));
void omp_free(void *ptr,
              omp_allocator_handle_t allocator STAIRCASE_OMP_DEFAULT(omp_null_allocator));

#ifdef __cplusplus
}

namespace omp {
namespace allocator {

/// The common base class of the allocators in the specification.
template <typename T, omp_allocator_handle_t Handle>
struct staircase_allocator {
  typedef T value_type;
  typedef T *pointer;
  typedef const T *const_pointer;
  typedef T &reference;
  typedef const T &const_reference;
  typedef size_t size_type;
  typedef ptrdiff_t difference_type;

  T *allocate(size_t count) { return static_cast<T *>(omp_alloc(count * sizeof(T), Handle)); }
  void deallocate(T *elements, size_t) { omp_free(elements, Handle); }
};

#define STAIRCASE_OMP_ALLOCATOR(name, handle)                          \
  template <typename T>                                                \
  struct name : staircase_allocator<T, handle> {                       \
    template <typename U>                                              \
    struct rebind {                                                    \
      typedef name<U> other;                                           \
    };                                                                 \
    name() = default;                                                  \
    template <typename U>                                              \
    name(const name<U> &) {}                                           \
    template <typename U>                                              \
    bool operator==(const name<U> &) const {                           \
      return true;                                                     \
    }                                                                  \
    template <typename U>                                              \
    bool operator!=(const name<U> &) const {                           \
      return false;                                                    \
    }                                                                  \
  };
STAIRCASE_OMP_ALLOCATOR(null_allocator, omp_null_allocator)
STAIRCASE_OMP_ALLOCATOR(default_mem, omp_default_mem_alloc)
STAIRCASE_OMP_ALLOCATOR(large_cap_mem, omp_large_cap_mem_alloc)
STAIRCASE_OMP_ALLOCATOR(const_mem, omp_const_mem_alloc)
STAIRCASE_OMP_ALLOCATOR(high_bw_mem, omp_high_bw_mem_alloc)
STAIRCASE_OMP_ALLOCATOR(low_lat_mem, omp_low_lat_mem_alloc)
STAIRCASE_OMP_ALLOCATOR(cgroup_mem, omp_cgroup_mem_alloc)
STAIRCASE_OMP_ALLOCATOR(pteam_mem, omp_pteam_mem_alloc)
STAIRCASE_OMP_ALLOCATOR(thread_mem, omp_thread_mem_alloc)
#undef STAIRCASE_OMP_ALLOCATOR

}  // namespace allocator
}  // namespace omp
#endif

#undef STAIRCASE_OMP_DEFAULT
#undef STAIRCASE_OMP_HANDLE
