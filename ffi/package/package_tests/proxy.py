"""The example proxy on the installed shared library, over real sockets."""

import shutil
import sys

from . import rig

sys.path.insert(0, str(rig.ROOT / "ffi/examples"))

from proxy_tests import rig as sockets  # noqa: E402


def test_the_example_proxy_on_the_shared_library_answers():
    answers("proxy")


def answers(name, *flags):
    """Builds the proxy with these flags, and has a request go through it."""
    examples = rig.ROOT / "ffi/examples"
    folder = rig.folder(name)
    rig.cc("-O1", "-I", examples, "-o", folder / "proxy", examples / "proxy.c",
           *sorted((examples / "proxy").glob("*.c")), *rig.pkg_config("--cflags", "--libs", "plimsoll"),
           "-lpthread", f"-Wl,-rpath,{rig.PREFIX / 'lib'}", *flags)
    assert rig.SONAME in rig.run("readelf", "-dW", folder / "proxy")
    shutil.copy(rig.BUILD / "bin/origin", folder / "origin")
    sockets.BUILD = str(folder)
    with sockets.Origin("one") as origin, sockets.Proxy(sockets.cluster_text([origin.port])) as proxy:
        answer = sockets.exchange(proxy.port, sockets.request())
        assert answer.status == 200, answer
        assert proxy.stat("picks") == 1
