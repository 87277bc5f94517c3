/// @file
/// A reference to something that can be called: how lambdas become callbacks without an allocation.

#ifndef PLIMSOLL_CPP_FUNCTION_REF_HPP
#define PLIMSOLL_CPP_FUNCTION_REF_HPP

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace plimsoll {

template <class Signature>
class FunctionRef;

/// Refers to a function, a lambda or any other callable for as long as a call lasts. Two words;
/// never allocates, and does not keep the callable alive.
///
/// A callable that returns nothing stands for one that returns `R()`.
///
/// @code{.cpp}
/// int hosts = 0;
/// auto count = [&hosts](const plimsoll::Host&) { hosts++; };
/// plimsoll::FunctionRef<plimsoll::Visit(const plimsoll::Host&)> visit = count;
/// (void)cluster.for_each_host(visit);
/// @endcode
template <class R, class... Args>
class FunctionRef<R(Args...)> {
    template <class F>
    static constexpr bool is_other = !std::is_same_v<std::decay_t<F>, FunctionRef> &&
                                     !std::is_same_v<std::decay_t<F>, std::nullptr_t>;

    union Target {
        void* object;
        void (*function)();
    };

public:
    /// Refers to nothing, and must not be called.
    constexpr FunctionRef() noexcept = default;

    /// Refers to nothing, and must not be called.
    constexpr FunctionRef(std::nullptr_t) noexcept {}

    /// Refers to `callable`, which has to live for as long as this is called.
    template <class F,
              class = std::enable_if_t<is_other<F> && std::is_invocable_v<F&, Args...>>>
    FunctionRef(F&& callable) noexcept {
        using Callable = std::remove_reference_t<F>;
        if constexpr (std::is_function_v<Callable>) {
            target_.function = reinterpret_cast<void (*)()>(std::addressof(callable));
        } else {
            const void* object = std::addressof(callable);
            target_.object = const_cast<void*>(object);
        }
        call_ = &call<Callable>;
    }

    /// Whether there is something to call.
    explicit operator bool() const noexcept { return call_ != nullptr; }

    /// Calls it.
    R operator()(Args... args) const { return call_(target_, std::forward<Args>(args)...); }

private:
    template <class Callable>
    static Callable& callable_of(Target target) noexcept {
        if constexpr (std::is_function_v<Callable>) {
            auto* const function = reinterpret_cast<Callable*>(target.function);
            return *function;
        } else {
            return *static_cast<Callable*>(target.object);
        }
    }

    template <class Callable>
    static R call(Target target, Args... args) {
        Callable& callable = callable_of<Callable>(target);
        if constexpr (std::is_void_v<R> ||
                      std::is_void_v<std::invoke_result_t<Callable&, Args...>>) {
            std::invoke(callable, std::forward<Args>(args)...);
            return R();
        } else {
            return std::invoke(callable, std::forward<Args>(args)...);
        }
    }

    Target target_ = {nullptr};
    R (*call_)(Target, Args...) = nullptr;
};

}  // namespace plimsoll

#endif
