"""Checks of a game folder: what is missing, and which files don't go together."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from ..errors import Finding, FormatError, Severity
from ..formats import mcol, regn
from ..formats.ipfb import Entry
from ..game.archive import Archive, open_archive
from ..game.game_folder import HULL_ENDING, NAVIGATION_ENDING, SETS, Game, hull_users, names_in, stages
from ..game.stage_tables import HULL_KEY, NAVIGATION_KEY, SET_KEY, Stage
from ..rules.rule import Rule

_Model = TypeVar("_Model")


def check(game: Game) -> list[Finding]:
    """What is missing: archives, readable tables, and the files that phases name or should name; then which hulls and
    navigation volumes don't go together, and whether all CollisionSets are alike. Reads the whole of these files."""
    findings: list[Finding] = []
    archive: Archive | None = None
    found: list[Stage] = []
    try:
        archive = open_archive(game.require_collision())
    except FormatError as error:
        findings.append(Finding(Severity.ERROR, Rule.GAME_ARCHIVES, str(error)))
    try:
        found = stages(game)
    except FormatError as error:
        findings.append(Finding(Severity.ERROR, Rule.GAME_ARCHIVES, str(error)))
    for stage in found:
        findings += _check_stage(stage, archive)
    if archive is not None:
        archive = archive.with_names(names_in(found))
        findings += _check_pairs(archive, found) + _check_sets(archive, found)
    return findings


def _check_stage(stage: Stage, archive: Archive | None) -> list[Finding]:
    """What is wrong in a stage's table, and which files its phases lack."""
    findings = []
    if stage.problem:
        findings.append(Finding(Severity.ERROR, Rule.STAGE_TABLES, f"{stage.name}: {stage.problem}"))
    findings += [Finding(Severity.WARNING, Rule.STAGE_TABLES, f"{stage.name}: {warning}") for warning in stage.warnings]
    for phase in stage.phases:
        where = f"{stage.name} {phase.name}"
        named = {HULL_KEY: phase.hull, NAVIGATION_KEY: phase.navigation, SET_KEY: phase.set}
        for key, name in named.items():
            if name is None:
                findings.append(Finding(Severity.WARNING, Rule.PHASE_FILES, f"{where} names no {key}"))
            elif archive is not None and not archive.has(name):
                message = f"{where}: {archive.path.name} has no {name}, its {key}"
                findings.append(Finding(Severity.ERROR, Rule.PHASE_FILES, message))
    return findings


def _check_pairs(archive: Archive, found: list[Stage]) -> list[Finding]:
    """Each NAME.col with its NAME.rgn, and what phases pair beyond that (docs/FORMATS.md, section 5)."""
    findings: dict[Finding, None] = {}  # in order; a damaged file of several pairs is reported once

    def add(rule: Rule, message: str) -> None:
        findings[Finding(Severity.ERROR, rule, message)] = None

    @functools.lru_cache(maxsize=4)  # names may share what they lead to
    def contents(entry: Entry, decode: Callable[[bytes], _Model]) -> _Model | FormatError:
        try:
            return decode(archive.read(entry))
        except FormatError as error:
            return replace(error, file="")  # the archive is known to who asks

    def decoded(name: str, decode: Callable[[bytes], _Model]) -> _Model | None:
        found = contents(archive.find(name)._replace(hash=0), decode)
        if not isinstance(found, FormatError):
            return found
        add(Rule.PAIR_FILES, f"{name}: {found}")
        return None

    users = {name.lower(): phases for name, phases in hull_users(found).items()}
    for hull, navigation in _pairs(archive, found):
        phases = ", ".join(" ".join(phase) for phase in users.get(hull.lower(), ()))
        used = f" (used by {phases})" if phases else ""
        missing = [name for name in (hull, navigation) if not archive.has(name)]
        if missing:
            other = navigation if missing[0] == hull else hull
            add(
                Rule.PAIR_FILES,
                f"{other} has no {missing[0]} beside it{used}: without both a stage has no map collision",
            )
            continue
        model, volume = decoded(hull, mcol.decode), decoded(navigation, regn.decode)
        reasons = regn.fits(volume, model.grid) if model and volume else []
        if reasons:
            add(Rule.PAIR_GRID, f"{navigation} doesn't fit {hull}{used}: {'; '.join(reasons)}; {regn.MISFIT}")
        elif model and volume and (doubts := regn.doubts(volume, model.grid)):
            findings[Finding(Severity.INFO, Rule.PAIR_GRID, f"{navigation} beside {hull}: {'; '.join(doubts)}")] = None
    return list(findings)


def _pairs(archive: Archive, found: list[Stage]) -> list[tuple[str, str]]:
    """Names of hulls and navigation volumes that belong together: by name, and as phases name those that are there."""
    pairs = []
    for name in archive.names.values():
        stem, ending = os.path.splitext(name)
        if ending.lower() in (HULL_ENDING, NAVIGATION_ENDING):
            pairs.append((stem + HULL_ENDING, stem + NAVIGATION_ENDING))
    for stage in found:
        for phase in stage.phases:
            hull, navigation = phase.hull, phase.navigation
            if hull and navigation and archive.has(hull) and archive.has(navigation):
                pairs.append((hull, navigation))
    alike = {(hull.lower(), navigation.lower()): (hull, navigation) for hull, navigation in reversed(pairs)}
    return sorted(alike.values())


def _check_sets(archive: Archive, found: list[Stage]) -> list[Finding]:
    """The shipped game stores one CollisionSet under all names (docs/FORMATS.md, section 4)."""
    known = {name.lower() for name in (*SETS, *(phase.set for stage in found for phase in stage.phases if phase.set))}
    findings = []
    unpacked: dict[bytes, bytes] = {}  # what is stored alike is unpacked once
    contents: dict[bytes, list[str]] = {}
    for name in sorted(name for name in archive.names.values() if name.lower() in known):
        try:
            entry = archive.find(name)
            stored = _digest(archive.stored(entry))
            if stored not in unpacked:
                unpacked[stored] = _digest(archive.read(entry))
            contents.setdefault(unpacked[stored], []).append(name)
        except FormatError as error:
            findings.append(Finding(Severity.ERROR, Rule.SET_FILES, f"{name}: {replace(error, file='')}"))
    usual, *others = sorted(contents.values(), key=len, reverse=True) or [[]]
    if others:
        groups = "; ".join(", ".join(names) for names in others)
        message = f"CollisionSets that differ from the other {len(usual)}: {groups}"
        findings.append(Finding(Severity.WARNING, Rule.SET_CONTENTS, message))
    return findings


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
