// A result that is asked for what it does not have ends the program. The argument says which.

#include <cstring>

#include "plimsoll/plimsoll.hpp"

int main(int count, char** arguments) {
    const char* which = count > 1 ? arguments[1] : "";
    if (std::strcmp(which, "cluster") == 0) {
        (void)plimsoll::Cluster::open("name: api\nload_assignment: 7\n").value();
    } else if (std::strcmp(which, "pick") == 0) {
        (void)plimsoll::Result<int, plimsoll::Status>(plimsoll::Status::no_host).value();
    } else if (std::strcmp(which, "success") == 0) {
        (void)plimsoll::Result<int>(7).error();
    } else if (std::strcmp(which, "success without a value") == 0) {
        (void)plimsoll::Result<void>().error();
    }
}
