"""All scenarios. The order of these imports is the order in which they run and are reported."""

from . import hashing  # noqa: F401
from . import priorities  # noqa: F401
from . import orders  # noqa: F401
from . import chance  # noqa: F401
from . import routing  # noqa: F401
from . import slow_start  # noqa: F401
from . import load_aware  # noqa: F401
from . import load_aware_courses  # noqa: F401
from . import reported_weights  # noqa: F401
from . import rebuilds  # noqa: F401
from . import validation  # noqa: F401
