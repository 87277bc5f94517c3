"""What scenarios work with: programs, ports, and the forms in which a cluster is run."""

import os
from dataclasses import dataclass
from typing import Callable

from .envoy import Envoy, Ports
from .replay import Replay
from .scenario import STOCK


@dataclass(frozen=True)
class Column:
    """One way to run a cluster in Envoy."""

    name: str
    dress: Callable = dict  # a cluster's message in, the same one for this column out

    def of(self, cluster):
        """What this column's form of a cluster is called."""
        return cluster if self.name == STOCK else f"{cluster}-{self.name.lower()}"

    def form(self, cluster):
        dressed = self.dress(cluster)
        dressed["name"] = self.of(cluster["name"])
        dressed["load_assignment"] = self.assignment(cluster["load_assignment"])
        return dressed

    def assignment(self, message):
        return {**message, "cluster_name": self.of(message["cluster_name"])}


class Rig:
    """One run of the harness."""

    def __init__(self, binary, tool, work, columns=(Column(STOCK),)):
        self.binary = binary
        self.work = work
        self.columns = columns
        self.ports = Ports()
        self.origins = self.ports.origins
        self._tool = tool
        self._started = 0

    def envoy(self, clusters, **options):
        """Starts Envoy with each cluster in the form of each column."""
        self._started += 1
        folder = os.path.join(self.work, f"envoy-{self._started}")
        forms = [column.form(cluster) for cluster in clusters for column in self.columns]
        return Envoy(self.binary, folder, self.ports, forms, **options)

    def replay(self):
        return Replay(self._tool)

    def stock_only(self):
        """The same rig without the module's column."""
        rig = Rig.__new__(Rig)
        rig.__dict__.update(self.__dict__)
        rig.columns = tuple(column for column in self.columns if column.name == STOCK)
        return rig

    def forms(self, message):
        """What a cluster is called in each column."""
        return {column.name: column.of(message["name"]) for column in self.columns}

    def each(self, measure):
        """What a measurement gives in each column."""
        return {column.name: measure(column) for column in self.columns}
