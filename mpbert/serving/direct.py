"""Questions on a straight way past the framework, which costs more than reading and writing them.

Whatever is unusual takes the way through the framework, which words all refusals: other addresses,
bodies that are no question, papers that are not known, failures.
"""

from collections.abc import Awaitable, Callable

from pydantic import ValidationError
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mpbert.serving.messages import Question

ADDRESS = "/api/recommend"


class DirectQuestions:
    """Middleware: answers questions, and passes on all else.

    :param answer: the answer to a question; None: the framework is to answer. Of a request that
        has reached this, one message holds the whole body, see ``limits.RequestLimits``.
    """

    def __init__(
        self, app: ASGIApp, answer: Callable[[Question], Awaitable[Response | None]]
    ) -> None:
        self._app, self._answer = app, answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a question, or pass the request on."""
        if not _may_be_question(scope):
            return await self._app(scope, receive, send)
        message = await receive()
        if response := await self._response(message):
            return await response(scope, receive, send)
        waiting = [message]

        async def receive_again() -> Message:
            return waiting.pop() if waiting else await receive()

        await self._app(scope, receive_again, send)

    async def _response(self, message: Message) -> Response | None:
        if message.get("more_body"):
            return None
        try:
            question = Question.model_validate_json(message.get("body", b""))
        except ValidationError:
            return None
        return await self._answer(question)


def _may_be_question(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["path"] != ADDRESS or scope["method"] != "POST":
        return False
    return any(
        name == b"content-type" and value == b"application/json" for name, value in scope["headers"]
    )
