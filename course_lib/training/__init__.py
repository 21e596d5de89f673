"""Recipes, the training loop, checkpoints, run directories and their results."""

from course_lib.training.compare import compare, compared_configs, recorded_name
from course_lib.training.config_file import with_file
from course_lib.training.estimate import time_taken
from course_lib.training.launch import train_by
from course_lib.training.loop import train
from course_lib.training.minibatches import encode_pairs
from course_lib.training.recipe import RECIPES, Recipe
from course_lib.training.result import finish_run, score_run
from course_lib.training.run import Run, load_run
from course_lib.training.run_config import RunConfig, parse_changes
from course_lib.training.run_directory import read_metrics, read_result
from course_lib.training.validation import mean_loss
from course_lib.training.warm_start import initial

__all__ = [
    "RECIPES",
    "Recipe",
    "Run",
    "RunConfig",
    "compare",
    "compared_configs",
    "encode_pairs",
    "finish_run",
    "initial",
    "load_run",
    "mean_loss",
    "parse_changes",
    "read_metrics",
    "read_result",
    "recorded_name",
    "score_run",
    "time_taken",
    "train",
    "train_by",
    "with_file",
]
