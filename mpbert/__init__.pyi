"""What type checkers and editors see of the package, whose names are loaded late."""

from mpbert.api.corpus import Corpus as Corpus
from mpbert.api.encoder import Encoder as Encoder
from mpbert.api.measuring import compare as compare
from mpbert.api.measuring import evaluate as evaluate
from mpbert.recommending.recommender import Recommender as Recommender

__version__: str
__all__: list[str]
