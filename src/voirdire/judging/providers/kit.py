"""What a provider is given to make a judge with."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voirdire.judging.images import ImageStore
    from voirdire.judging.material import Material


@dataclass(frozen=True, slots=True)
class Kit:
    """Everything of a run that judges may need.

    images : encoded images by path; material : items, questions and what is known of them
    seed : for judges that draw; environment : where keys and base URLs are looked up, never shown
    run_id : first part of the ids of all calls; timeout : seconds for one call
    shared : a place for what several judges use together, such as the connections of a lane
    folder : the run's folder, for logs of servers that a judge starts itself; None where there is none
    """

    images: ImageStore
    material: Material
    seed: int
    environment: Mapping[str, str] = field(repr=False)
    run_id: str
    timeout: float = 120.0
    shared: MutableMapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    folder: Path | None = None
