#include "polynomial.hpp"

#include <algorithm>

namespace slicer {

Polynomial sum_of(Polynomial one, const Polynomial& other, long factor) {
  for (const auto& [product, count] : other) one[product] += factor * count;
  std::erase_if(one, [](const auto& part) { return part.second == 0; });
  return one;
}

Polynomial product_of(const Polynomial& one, const Polynomial& other) {
  Polynomial all;
  for (const auto& [product, count] : one)
    for (const auto& [by, times] : other) {
      std::vector<const Variable*> both = product;
      both.insert(both.end(), by.begin(), by.end());
      std::sort(both.begin(), both.end());
      all[both] += count * times;
    }
  std::erase_if(all, [](const auto& part) { return part.second == 0; });
  return all;
}

bool is_affine(const Polynomial& polynomial) {
  return std::all_of(polynomial.begin(), polynomial.end(),
                     [](const auto& part) { return part.first.size() <= 1; });
}

bool is_constant(const Polynomial& polynomial) {
  return polynomial.empty() || (polynomial.size() == 1 && polynomial.begin()->first.empty());
}

}  // namespace slicer
