"""What was typed while the agent worked, for a host that hands it to the model and tells no hook: heard at the Stop."""

from __future__ import annotations

from omo.hooks import prompt
from omo.hosts import Event
from omo.state import runtime
from omo.work import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.hooks.main import World
    from omo.state.rows import SessionRow


def hear(event: Event, world: World, typed: list[tuple[str, str]]) -> str:
    """Each is acted on as if it were typed now, and counts once. What there is to tell the user."""
    said = []
    for moment, text in typed:
        answer = prompt.act_on(_as_prompt(event, moment, text), world)
        said.append(answer.reason or answer.message)
    last = typed[-1][0]

    def decide(row: SessionRow | None) -> runtime.Change:
        return runtime.Change(None, row and session.note(row, {"heardTo": last}))

    world.change(decide)
    return " ".join(filter(None, said))


def _as_prompt(event: Event, moment: str, text: str) -> Event:
    typed = Event(event.session)
    typed.host, typed.client = event.host, event.client
    typed.directory, typed.project = event.directory, event.project
    typed.transcript = event.transcript
    typed.shows_messages = event.shows_messages
    typed.prompt = text
    typed.raw = f"{moment} {text}".encode("utf-8", "backslashreplace")
    return typed
