"""A sentence whose nouns the reader exchanges: where its last word looks, and what *it* becomes."""

from typing import Any

import traitlets

from course_lib.widgets.modules import MovingFigure, module


class Antecedent(MovingFigure):
    """One word asks: the weights of the sentence's words, and the probabilities of three pronouns.

    Attributes:
        animals, things: the nouns to choose from, each with its German.
        adjectives: the last words to choose from.
        readings: of each sentence the place of the `antecedent`, the `right` pronoun, whether this
            pair of nouns was `held_out`, the ten `weights` and the `probabilities` of er, sie, es.
        animal, thing, adjective: which are chosen.
        thing_first: whether the thing comes before the animal.
    """

    _esm = module("antecedent")

    animals = traitlets.Dict().tag(sync=True)
    things = traitlets.Dict().tag(sync=True)
    adjectives = traitlets.List(traitlets.Unicode()).tag(sync=True)
    readings: Any = traitlets.Dict().tag(sync=True)
    animal = traitlets.Unicode().tag(sync=True)
    thing = traitlets.Unicode().tag(sync=True)
    adjective = traitlets.Unicode().tag(sync=True)
    thing_first = traitlets.Bool().tag(sync=True)

    @traitlets.validate("animal", "thing", "adjective")
    def _known(self, proposal: Any) -> str:
        name = proposal["trait"].name
        known = list(getattr(self, f"{name}s"))
        if proposal["value"] not in known:
            raise traitlets.TraitError(f"{name} is one of {known}.")
        return str(proposal["value"])
