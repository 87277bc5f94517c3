/// @file
/// A pointer and a length, for arrays that a call reads or fills. What `std::span` is from C++20
/// on, which converts to it.

#ifndef PLIMSOLL_CPP_SPAN_HPP
#define PLIMSOLL_CPP_SPAN_HPP

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace plimsoll {

/// An array that belongs to somebody else: read or written during a call, and not kept.
///
/// C arrays, `std::array`, `std::vector`, `std::span` and everything else with `data()` and `size()`
/// convert to it. Index and length are not checked.
///
/// @code{.cpp}
/// std::array<plimsoll::Pick, 4> picks;
/// plimsoll::Span<plimsoll::Pick> all = picks;
/// assert(all.first(2).size() == 2);
/// @endcode
template <class T>
class Span {
    template <class Container>
    using Element = std::remove_pointer_t<decltype(std::data(std::declval<Container&>()))>;

public:
    /// An empty array.
    constexpr Span() noexcept = default;

    /// `size` elements from `data` on, which may be null if there are none.
    constexpr Span(T* data, std::size_t size) noexcept : data_(data), size_(size) {}

    /// All of a container whose elements lie in a row.
    template <class Container,
              class = std::enable_if_t<
                  !std::is_same_v<std::decay_t<Container>, Span> &&
                  std::is_convertible_v<Element<Container> (*)[], T (*)[]>>>
    constexpr Span(Container&& container) noexcept
        : data_(std::data(container)), size_(std::size(container)) {}

    /// The first element; may be null if there is none.
    constexpr T* data() const noexcept { return data_; }

    /// How many elements.
    constexpr std::size_t size() const noexcept { return size_; }

    /// Whether there is no element.
    constexpr bool empty() const noexcept { return size_ == 0; }

    /// The element at `index`, which is less than `size()`.
    constexpr T& operator[](std::size_t index) const noexcept { return data_[index]; }

    /// The first `count` elements; there are at least as many.
    constexpr Span first(std::size_t count) const noexcept { return Span(data_, count); }

    /// For range-based loops.
    constexpr T* begin() const noexcept { return data_; }

    /// For range-based loops.
    constexpr T* end() const noexcept { return data_ + size_; }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace plimsoll

#endif
