"""What may be wanted of an answer, by a program or by an assistant."""

from typing import Annotated

from pydantic import Field

MAX_TOP = 100

Top = Annotated[int, Field(ge=1, le=MAX_TOP, description="papers to answer with")]
Year = Annotated[
    Annotated[int, Field(ge=1, le=9999)] | None,
    Field(description="year of the manuscript: nothing later is recommended"),
]
Since = Annotated[
    Annotated[int, Field(ge=1, le=9999)] | None,
    Field(description="nothing earlier is recommended; papers without a year are"),
]
Filters = Annotated[
    list[Annotated[str, Field(pattern="^(tag|collection):")]],
    Field(max_length=20, description="tag:NAME or collection:NAME, all of which a paper must have"),
]
