// Error reporting of the runtime: a code, and one sentence that says what was
// found, what was expected, and a way out.
#ifndef GMOE_RUNTIME_CORE_STATUS_H
#define GMOE_RUNTIME_CORE_STATUS_H

#include <optional>
#include <string>
#include <utility>

namespace gmoe {

enum class StatusCode {
  Ok = 0,
  InvalidArgument, // the caller's fault: shape, type, alignment, range
  InvalidBundle,   // truncated, altered, newer, or inconsistent file
  NotFound,        // entry, kernel, file
  Unavailable,     // no driver, no device, no image for this chip
  DeviceError,     // the device reported a failure
  Hazard,          // the emulator found a synchronization error
};

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message)
      : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::Ok; }
  explicit operator bool() const { return ok(); }
  StatusCode code() const { return code_; }
  const std::string &message() const { return message_; }

private:
  StatusCode code_ = StatusCode::Ok;
  std::string message_;
};

inline Status invalidArgument(std::string message) {
  return {StatusCode::InvalidArgument, std::move(message)};
}
inline Status invalidBundle(std::string message) {
  return {StatusCode::InvalidBundle, std::move(message)};
}
inline Status notFound(std::string message) {
  return {StatusCode::NotFound, std::move(message)};
}
inline Status unavailable(std::string message) {
  return {StatusCode::Unavailable, std::move(message)};
}
inline Status deviceError(std::string message) {
  return {StatusCode::DeviceError, std::move(message)};
}

/// A value or the status that says why there is none.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : value_(std::move(value)) {}
  Expected(Status status) : status_(std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status &status() const { return status_; }
  T &operator*() { return *value_; }
  const T &operator*() const { return *value_; }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }

private:
  std::optional<T> value_;
  Status status_;
};

} // namespace gmoe

#endif // GMOE_RUNTIME_CORE_STATUS_H
