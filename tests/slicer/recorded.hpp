/// \file
/// Numbers that record their reads and writes, together with the loop iterations in which these
/// accesses occur.

#pragma once

#include <vector>

/// An iteration of a loop, and the index of the iteration around it.
struct Iteration {
  int line;
  long value, number;
  int around;
};

struct Event {
  long cell;
  bool is_write, is_update;
  int iteration;
};

struct Recording {
  std::vector<Iteration> iterations;
  std::vector<Event> events;
  long cells = 0;
  int now = -1;
};

inline Recording recording;

/// An object in the body of a loop, which marks the start and the end of an iteration.
class Pass {
 public:
  Pass(int line, long value) : around_(recording.now) {
    recording.iterations.push_back(
        {line, value, static_cast<long>(recording.iterations.size()), around_});
    recording.now = static_cast<int>(recording.iterations.size()) - 1;
  }
  ~Pass() { recording.now = around_; }
  Pass(const Pass&) = delete;

 private:
  int around_;
};

/// A computed number, and the indices of the reads whose sum it is.
struct Value {
  double number;
  std::vector<std::size_t> summands = {};
  Value(double given, std::vector<std::size_t> of = {}) : number(given), summands(of) {}
};

class Real {
 public:
  Real(double number = 0) : number_(number), cell_(recording.cells++) { note(true, false); }
  Real(const Value& value) : Real(value.number) {}
  Real(const Real& other) : Real(Value(other)) {}

  operator Value() const {
    note(false, false);
    return {number_, {recording.events.size() - 1}};
  }
  Real& operator=(const Value& value) {
    // If the sum contains this element once, the assignment is an update of this element.
    std::vector<std::size_t> own;
    for (const std::size_t summand : value.summands)
      if (recording.events[summand].cell == cell_) own.push_back(summand);
    if (own.size() == 1) recording.events[own.front()].is_update = true;
    note(true, own.size() == 1);
    number_ = value.number;
    return *this;
  }
  Real& operator=(const Real& other) { return *this = Value(other); }
  Real& operator=(double number) { return *this = Value(number); }
  Real& operator+=(const Value& value) { return update(number_ + value.number); }
  Real& operator-=(const Value& value) { return update(number_ - value.number); }
  Real& operator*=(const Value& value) { return update(number_ * value.number); }

 private:
  void note(bool is_write, bool is_update) const {
    recording.events.push_back({cell_, is_write, is_update, recording.now});
  }
  Real& update(double number) {
    note(false, true);
    note(true, true);
    number_ = number;
    return *this;
  }

  double number_;
  long cell_;
};

inline Value operator+(const Value& one, const Value& other) {
  Value sum(one.number + other.number, one.summands);
  sum.summands.insert(sum.summands.end(), other.summands.begin(), other.summands.end());
  return one.summands.empty() && other.summands.empty() ? Value(sum.number) : sum;
}
inline Value operator-(const Value& one, const Value& other) {
  return {one.number - other.number, one.summands};
}
inline Value operator*(const Value& one, const Value& other) { return one.number * other.number; }
inline Value operator/(const Value& one, const Value& other) { return one.number / other.number; }
inline bool operator<(const Value& one, const Value& other) { return one.number < other.number; }
