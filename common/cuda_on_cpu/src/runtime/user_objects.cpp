#include "user_objects.hpp"

#include <memory>

#include "graphs.hpp"

/// An object of the program. It is destroyed when its last reference is released.
struct CUuserObject_st {
  void* object;
  cudaHostFn_t destroy;
  unsigned references;
};

namespace cuda_on_cpu {
namespace {

using Guard = std::scoped_lock<RuntimeMutex>;

void release_references(cudaUserObject_t object, unsigned count) {
  object->references -= count;
  if (object->references > 0) return;
  const std::unique_ptr<CUuserObject_st> taken(object);
  taken->destroy(taken->object);
}

}  // namespace

UserObjects::~UserObjects() {
  for (const auto& [object, count] : counts_) release_references(object, count);
}

void UserObjects::add(const UserObjects& other) {
  for (const auto& [object, count] : other.counts_) {
    ++object->references;
    ++counts_[object];
  }
}

bool UserObjects::remove(cudaUserObject_t object, unsigned count) {
  const auto held = counts_.find(object);
  if (held == counts_.end() || held->second < count) return false;
  held->second -= count;
  if (held->second == 0) counts_.erase(held);
  release_references(object, count);
  return true;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cudaError_t cudaUserObjectCreate(cudaUserObject_t* made, void* object, cudaHostFn_t destroy,
                                 unsigned references, unsigned flags) {
  if (made == nullptr || destroy == nullptr || references == 0 ||
      flags != cudaUserObjectNoDestructorSync)
    return fail(cudaErrorInvalidValue);
  *made = new CUuserObject_st{object, destroy, references};
  return lasting_error();
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  const Guard guard(runtime_mutex());
  if (object == nullptr || count == 0) return fail(cudaErrorInvalidValue);
  object->references += count;
  return lasting_error();
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  const Guard guard(runtime_mutex());
  if (object == nullptr || count == 0 || count > object->references)
    return fail(cudaErrorInvalidValue);
  release_references(object, count);
  return lasting_error();
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
  const Guard guard(runtime_mutex());
  if (graph == nullptr || object == nullptr || count == 0 || flags > cudaGraphUserObjectMove)
    return fail(cudaErrorInvalidValue);
  if (flags != cudaGraphUserObjectMove) object->references += count;
  graph->objects.take(object, count);
  return lasting_error();
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  const Guard guard(runtime_mutex());
  if (graph == nullptr || object == nullptr || count == 0 || !graph->objects.remove(object, count))
    return fail(cudaErrorInvalidValue);
  return lasting_error();
}
