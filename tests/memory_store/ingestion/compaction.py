"""Housekeeping of one workspace in memory: drop versions past its history, then merge its small segments."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
from tests.memory_store.erasure.erasure import drop_mentions
from tests.memory_store.session.state import PassageRow, WorkspaceState
from tests.memory_store.session.store import Working

from agentic_rag.retrieval.lexical.postings import AccessChanges, merge_groups, merge_segments, split_segment
from agentic_rag.tenancy.principals import WorkspaceRef

DEFAULT_HISTORY_DAYS = 7


def compact(working: Working, workspace: WorkspaceRef) -> int | None:
    """Write one group of segments anew, without chunks that no readable version shows; how many it had. 0 where there
    is none, None where more are left.
    """
    if working.read(workspace) is None:
        return 0
    state = working.write(workspace)
    purge_history(working, state)
    held = [ordinal for segment in state.segments for ordinal in segment.ordinals.tolist()]
    drop = np.array([ordinal for ordinal in held if ordinal not in state.passages], np.int32)
    segments = state.segments
    groups = merge_groups(
        [len(one.ordinals) for one in segments], [bool(np.isin(one.ordinals, drop).any()) for one in segments]
    )
    if not groups:
        return 0
    moves = AccessChanges.of((ordinal, passage.access_id) for ordinal, passage in state.passages.items())
    chosen = groups[0]
    merged = merge_segments([segments[place] for place in chosen], drop, moves)
    kept = [one for place, one in enumerate(segments) if place not in chosen]
    state.segments = (*kept, *split_segment(merged))
    return None if len(groups) > 1 else len(chosen)


def purge_history(working: Working, state: WorkspaceState) -> None:
    """Remove what readers of versions past the retention alone could see, and refuse those versions from now on.

    Versions grow with time, so whatever was closed up to the version at which the youngest expired revision was
    superseded has expired too.
    """
    days = state.workspace.settings.history_days
    expired = working.now() - timedelta(days=DEFAULT_HISTORY_DAYS if days is None else days)
    horizon = max(
        (
            stored.published_to
            for stored in state.revisions.values()
            if stored.published_to is not None
            and stored.published_to > state.oldest_version
            and stored.superseded_at is not None
            and stored.superseded_at <= expired
        ),
        default=None,
    )
    if horizon is None:
        return
    state.oldest_version = horizon
    gone: list[int] = []
    for ordinal, passage in list(state.passages.items()):
        if passage.visible_to is not None and passage.visible_to <= horizon:
            gone.append(ordinal)
        else:
            state.passages[ordinal] = _trimmed(state, passage, horizon)
    mentioned = {held.entity_id for ordinal in gone for held in state.passages[ordinal].mentions}
    for ordinal in gone:
        del state.passages[ordinal]
    drop_mentions(state, mentioned, gone)
    _purge_revisions(state, horizon)


def _trimmed(state: WorkspaceState, passage: PassageRow, horizon: int) -> PassageRow:
    """The passage without the places it left before the horizon. One that stayed in place through later revisions
    stands at the same offsets in the current one, which it belongs to from now on.
    """
    current = state.documents[passage.document_id].revision_id
    placements = [
        placement for placement in passage.placements if placement.visible_to is None or placement.visible_to > horizon
    ]
    for place, placement in enumerate(placements):
        published_to = state.revisions[placement.revision_id].published_to
        if current is not None and placement.visible_to is None and published_to and published_to <= horizon:
            placements[place] = replace(placement, revision_id=current)
    return replace(passage, placements=tuple(placements))


def _purge_revisions(state: WorkspaceState, horizon: int) -> None:
    needed = {placement.revision_id for passage in state.passages.values() for placement in passage.placements}
    for revision_id, stored in list(state.revisions.items()):
        if stored.published_to is not None and stored.published_to <= horizon and revision_id not in needed:
            del state.revisions[revision_id]
