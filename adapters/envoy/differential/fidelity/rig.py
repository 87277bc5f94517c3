"""What scenarios work with: programs, ports, and the forms in which a cluster is run."""

import copy
import os
from collections.abc import Callable
from dataclasses import dataclass

from .envoy import Envoy, Ports
from .module import OVERFLOW, dress, environment, is_told_enough
from .replay import Replay
from .scenario import MODULE, STOCK


@dataclass(frozen=True)
class Column:
    """One way to run a cluster in Envoy."""

    name: str
    dress: Callable = lambda cluster, zone: dict(cluster)  # what the column makes of a message
    can_run: Callable = lambda cluster: True  # whether it can

    def of(self, cluster):
        """What this column's form of a cluster is called."""
        return cluster if self.name == STOCK else f"{cluster}-{self.name.lower()}"

    def form(self, cluster, zone):
        """The message for an Envoy in this zone."""
        dressed = self.dress(cluster, zone)
        dressed["name"] = self.of(cluster["name"])
        dressed["load_assignment"] = self.assignment(cluster["load_assignment"])
        return dressed

    def assignment(self, message):
        return {**message, "cluster_name": self.of(message["cluster_name"])}


class Rig:
    """One run of the harness."""

    def __init__(self, binary, tool, work, module=None):
        """`module` is the folder of our module's object."""
        self.binary = binary
        self.work = work
        self.columns = (Column(STOCK),)
        self._environment = {}
        self._filters = []
        if module:
            self.columns += (Column(MODULE, dress, is_told_enough),)
            self._environment = environment(module)
            self._filters = [OVERFLOW]
        self.ports = Ports()
        self.origins = self.ports.origins
        self._tool = tool
        self._started = 0

    def envoy(self, clusters, **options):
        """Starts Envoy with each cluster in the form of each column; options as for `Envoy`."""
        self._started += 1
        folder = os.path.join(self.work, f"envoy-{self._started}")
        forms = [column.form(cluster, options.get("zone"))
                 for cluster in clusters for column in self.columns if column.can_run(cluster)]
        return Envoy(self.binary, folder, self.ports, forms, filters=self._filters,
                     environment=self._environment, **options)

    def replay(self):
        return Replay(self._tool)

    def stock_only(self):
        """The same rig without the module's column."""
        rig = copy.copy(self)
        rig.columns = tuple(column for column in self.columns if column.name == STOCK)
        return rig

    def forms(self, message):
        """What a cluster is called in each column that can run it."""
        return {column.name: column.of(message["name"])
                for column in self.columns if column.can_run(message)}

    def each(self, message, measure):
        """What a measurement of a cluster gives in each column that can run it."""
        return {column: measure(name) for column, name in self.forms(message).items()}
