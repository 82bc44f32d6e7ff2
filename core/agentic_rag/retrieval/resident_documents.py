"""Which document each chunk of one workspace is of, and the titles of the documents, held in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.uint64]

ID_BYTES = 16


@dataclass(frozen=True, slots=True, eq=False)
class ResidentDocuments:
    """The documents of n chunks. Arrays are not to be written to."""

    ids: Ids
    """(d, 2) the id of each document, as its upper and lower half, ascending."""
    places: NDArray[np.int32]
    """(n,) the row in `ids` of each chunk's document."""
    titles: bytes
    """The titles behind one another, in the order of `ids`."""
    starts: NDArray[np.int64]
    """(d + 1,) where each title starts in `titles`, and the end."""
    corrected: dict[bytes, str | None] = field(default_factory=dict[bytes, str | None])
    """Titles that were found to be others, by the bytes of the document's id; None for one that is gone. A title
    changes without a version.
    """

    @classmethod
    def of(cls, documents: Ids, titles: Mapping[bytes, bytes]) -> ResidentDocuments:
        """From (n, 2) the id of each chunk's document, and titles in UTF-8 by the bytes of the id. Errors: `ValueError`
        when a document has no title.
        """
        order = np.lexsort((documents[:, 1], documents[:, 0]))
        ordered = documents[order]
        is_first = np.ones(len(ordered), np.bool_)
        is_first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
        places = np.empty(len(ordered), np.int32)
        places[order] = is_first.cumsum() - 1
        ids = ordered[is_first]
        told = [titles.get(one) for one in split_ids(ids)]
        known = [one for one in told if one is not None]
        if len(known) < len(told):
            raise ValueError("a document has no title")
        starts = np.zeros(len(known) + 1, np.int64)
        np.cumsum([len(one) for one in known], out=starts[1:])
        return cls(ids, places, b"".join(known), starts)

    @property
    def nbytes(self) -> int:
        """Memory of the arrays and the titles."""
        return self.ids.nbytes + self.places.nbytes + len(self.titles) + self.starts.nbytes

    def ids_of(self, rows: NDArray[np.int64]) -> Ids:
        """(k, 2) the ids of the documents of these rows of chunks."""
        return self.ids[self.places[rows]]

    def titles_of(
        self, rows: NDArray[np.int64], *, are_corrected: bool
    ) -> tuple[list[int], dict[int, tuple[bytes, str | None]]]:
        """The place of the document of each of these rows of chunks, and by place its id and title: as it was read, or
        (`are_corrected`) as it was found to be since.
        """
        places: list[int] = self.places[rows].tolist()
        distinct = list(dict.fromkeys(places))
        ids = split_ids(self.ids[distinct])
        firsts, ends = self.starts[distinct].tolist(), self.starts[1:][distinct].tolist()
        named = (str(self.titles[first:end], "utf-8") for first, end in zip(firsts, ends, strict=True))
        if not (are_corrected and self.corrected):
            return places, dict(zip(distinct, zip(ids, named, strict=True), strict=True))
        found = zip(distinct, ids, named, strict=True)
        return places, {place: (one, self.corrected.get(one, title)) for place, one, title in found}


def split_ids(ids: Ids) -> Sequence[bytes]:
    """The bytes of each of (k, 2) ids."""
    data = ids.astype(">u8").tobytes()
    return [data[start : start + ID_BYTES] for start in range(0, len(data), ID_BYTES)]
