"""Settings as runs and results wrote them until 2026, in the words of today.

Five settings that could contradict each other are one, `decoder`, and so is to have no context; the
scope of attention is part of `context`, and whether a self-attentive encoder knows positions is
part of `encoder`. Settings of training that nobody recommends are gone: a model that was trained
with one still translates, but its training cannot be continued.
"""

from collections.abc import Mapping
from typing import Any

from course_lib.errors import CourseError
from course_lib.models.config import MODELS, SIZES

OF_THE_DECODER: dict[str, Any] = {
    "order": "before",
    "input_feeding": False,
    "output": "maxout",
    "reads": "previous",
    "start": "summary",
}
"""The five settings with what they were by default."""

DECODERS = {
    ("before", False, "maxout", "previous", "summary"): "paper",
    ("after", True, "attentional", "current", "summary"): "luong",
    ("after", False, "attentional", "current", "summary"): "luong-unfed",
    ("between", False, "maxout", "current", "summary"): "conditional",
    ("before", False, "linear", "current", "summary"): "sutskever",
    ("before", False, "maxout", "current", "summary"): "paper-reads-new-state",
    ("before", False, "tanh", "previous", "summary"): "paper-tanh-readout",
    ("before", False, "linear", "previous", "summary"): "paper-linear-readout",
    ("after", False, "maxout", "current", "summary"): "paper-asks-after",
    ("before", False, "maxout", "previous", "zero"): "paper-starts-at-zero",
    ("between", False, "maxout", "previous", "summary"): "conditional-reads-old-state",
}
OF_DECODERS = {name: dict(zip(OF_THE_DECODER, key, strict=True)) for key, name in DECODERS.items()}

GONE = {
    **dict.fromkeys(
        ("dropout_embeddings", "dropout_annotations", "dropout_readout", "batch_tokens")
    ),
    **dict.fromkeys(("dropout_words", "dropout_states", "bpe_dropout", "r_drop"), 0),
}
"""Settings of training that there were, each with the value at which it did nothing."""

OLD = {*OF_THE_DECODER, *GONE, "scope", "positions"}


def renamed(settings: Mapping[str, Any], model: str = "", preset: str = "") -> dict[str, Any]:
    """Settings of a model, all of them or what `--set` changed, in the words of today.

    Args:
        settings: as they were recorded; those in today's words come back as they are.
        model, preset: what the settings change, where they are changes.

    Raises:
        CourseError: the library no longer has what they ask for.
    """
    new = {name: value for name, value in settings.items() if name not in OLD}
    base = {**SIZES.get(preset, {}), **MODELS.get(model, {})}
    if any(name in settings for name in OF_THE_DECODER):
        of_base = OF_DECODERS[base.get("decoder", "paper")]
        five = tuple({**of_base, **settings}[name] for name in OF_THE_DECODER)
        if five not in DECODERS:
            asked = ", ".join(f"{n}={v}" for n, v in zip(OF_THE_DECODER, five, strict=True))
            raise CourseError(f"The library no longer has the decoder of {asked}. Train another.")
        if DECODERS[five] != base.get("decoder"):
            new["decoder"] = DECODERS[five]
    if new.get("context") == "initial":
        # To have no context was a value of `context`; now it is a decoder.
        if new.get("decoder", base.get("decoder")) != "sutskever":
            raise CourseError("The library no longer has context=initial. Take decoder=sutskever.")
        del new["context"]
    if settings.get("scope", "global") != "global":
        context = settings.get("context", base.get("context", "additive"))
        new["context"] = f"{settings['scope']}-{context}"
    if settings.get("positions") is False:
        new["encoder"] = "self-attention-without-positions"
    return new


def check_nothing_gone(record: Mapping[str, Any]) -> None:
    """Refuse a run whose training asked for what the library can no longer do.

    Raises:
        CourseError: it names the setting.
    """
    for table in ("model_config", "recipe", "changes"):
        settings = record.get(table)
        if not isinstance(settings, Mapping):
            continue
        for name, nothing in GONE.items():
            if settings.get(name, nothing) != nothing:
                raise CourseError(f"The library no longer has {name}. Train another run without.")


def renamed_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """A run's config.yaml or result.json with all its settings in today's words."""
    new = dict(record)
    recipe = record.get("recipe")
    if isinstance(recipe, Mapping):
        new["recipe"] = {name: value for name, value in recipe.items() if name not in GONE}
    if isinstance(record.get("changes"), Mapping):
        new["changes"] = renamed(
            record["changes"], str(record.get("model")), str(record.get("preset"))
        )
    if isinstance(record.get("model_config"), Mapping):
        new["model_config"] = renamed(record["model_config"])
    return new
