/// \file
/// Reference-counted objects and lists, for use in headers that user programs include. These
/// headers include only those headers of the C++ library that nvcc's headers include as well. A
/// program with `using namespace std` may therefore define its own `vector` or `function`.

#pragma once

#include <cstddef>

#include <initializer_list>
#include <new>
#include <utility>

namespace cuda_on_cpu {

/// A reference to an object with shared ownership. The last owner destroys the object.
class Owned {
 public:
  Owned() = default;
  /// \param destroy is called with `owner`, which may be the same as `object`
  Owned(void* object, void* owner, void (*destroy)(void* owner));
  Owned(const Owned& other);
  Owned(Owned&& other) noexcept : object_(other.object_), count_(other.count_) {
    other.object_ = nullptr;
    other.count_ = nullptr;
  }
  Owned& operator=(Owned other) noexcept {
    std::swap(object_, other.object_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~Owned();

  void* get() const { return object_; }

 private:
  struct Count;
  void* object_ = nullptr;
  Count* count_ = nullptr;
};

/// Creates an owned object from a value.
template <typename Value>
Owned owned_copy(Value value) {
  Value* const made = new Value(std::move(value));
  return {made, made, [](void* owner) { delete static_cast<Value*>(owner); }};
}

/// An array of a fixed number of values.
template <typename Value>
class List {
 public:
  List() = default;
  explicit List(std::size_t size) : values_(size == 0 ? nullptr : new Value[size]()), size_(size) {}
  List(std::initializer_list<Value> values) : List(values.size()) {
    std::size_t i = 0;
    for (const Value& value : values) values_[i++] = value;
  }
  List(const List& other) : List(other.size_) {
    for (std::size_t i = 0; i < size_; ++i) values_[i] = other.values_[i];
  }
  List(List&& other) noexcept : values_(other.values_), size_(other.size_) {
    other.values_ = nullptr;
    other.size_ = 0;
  }
  List& operator=(List other) noexcept {
    std::swap(values_, other.values_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~List() { delete[] values_; }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Value* data() { return values_; }
  const Value* data() const { return values_; }
  Value& operator[](std::size_t i) { return values_[i]; }
  const Value& operator[](std::size_t i) const { return values_[i]; }
  Value* begin() { return values_; }
  Value* end() { return values_ + size_; }
  const Value* begin() const { return values_; }
  const Value* end() const { return values_ + size_; }

 private:
  Value* values_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace cuda_on_cpu
