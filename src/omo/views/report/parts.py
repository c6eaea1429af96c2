"""One kind of work of a report: its status, and the evidence behind each item, as it may be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from omo import table
from omo.errors import OmoError
from omo.text import clip
from omo.views.report.attachments import show
from omo.work.sections import Notice, Section, Sections
from omo.work.status import Status
from omo.work.viewer import Viewer


@dataclass(frozen=True)
class Part:
    view: Status
    sections: Sections

    @property
    def whole(self) -> Section:
        return self.sections.whole

    def evidence(self, item: str) -> Section:
        return self.sections.of.get(item, Section())


def parts_of(viewer: Viewer, statuses: Sequence[Status]) -> list[Part]:
    return [Part(status, _sections(viewer, status)) for status in statuses]


def _sections(viewer: Viewer, status: Status) -> Sections:
    """Work that nobody can read has no evidence to show; why is told with the work itself."""
    try:
        sections: Sections = table.BY_KIND[status.kind].sections(viewer, status)
    except (OmoError, LookupError, TypeError, ValueError, AttributeError, RecursionError, OverflowError) as error:
        why = error.message if isinstance(error, OmoError) else f"{type(error).__name__}: {error}"
        notice = Notice("unreadable", clip(f"its evidence cannot be read: {why}", 300))
        return Sections(whole=Section(notices=(notice,)))

    def shown(section: Section) -> Section:
        attachments = [show(viewer.context.root, attachment) for attachment in section.attachments]
        return replace(section, attachments=tuple(attachments))

    of_items = {name: shown(section) for name, section in sections.of.items()}
    return replace(sections, whole=shown(sections.whole), of=of_items)
