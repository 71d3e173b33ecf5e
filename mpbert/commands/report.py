"""``report``: corpus store, rows and their runs -> one report in five formats, with plots.

The files ``report.*`` have the same bytes whenever the runs are the same. What the rows cost
differs from time to time, so it stands apart, in ``cost.*``; so do the losses of the trainings that
were done here, in ``training.*``.
"""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import numpy as np

from mpbert.corpus.store import TASKS
from mpbert.evaluation.plots import plot_cost, plot_report
from mpbert.evaluation.render import render_report
from mpbert.evaluation.report import Report
from mpbert.evaluation.training_curves import plot_training
from mpbert.experiments.claim_files import read_claims
from mpbert.experiments.cost import render_cost
from mpbert.experiments.expected import ScoreCheck, check_scores
from mpbert.experiments.experiment import Experiment, Variant
from mpbert.experiments.layout import Layout
from mpbert.experiments.measuring import ReportPlan, measure_rows, scores_of
from mpbert.experiments.paper_table_files import read_paper_tables
from mpbert.experiments.row_cost import cost_with_inputs
from mpbert.experiments.row_files import configs_beside, read_rows, row_files
from mpbert.experiments.training_curves import read_training_curves
from mpbert.experiments.tuning import read_tuned, tuned_file
from mpbert.foundation.config import option, positional
from mpbert.foundation.errors import ConfigError, MpbertError
from mpbert.foundation.manifest import check_inputs, is_finished, output_directory, read_manifest


@dataclass(frozen=True)
class Config:
    """Measure every row that was run; write report.{txt,md,tex,html,json} and plots."""

    corpus: Path = positional("corpus", "corpus store the runs were made from")
    rows: Path = positional("rows", "folder of NAME.yaml, one row each, or a file of several rows")
    root: Path = positional("root", "folder of all outputs, as of make-rows")
    output: Path = positional("output", "directory to write")
    tuned: Optional[Path] = option(
        None, "what mpbert tune chose: its file, or a folder of CORPUS.yaml", type=Path
    )
    task: str = option("local", "rows of contexts, or of whole papers (global)", choices=TASKS)
    split: str = option("test", "split whose queries are measured", choices=["test", "valid"])
    cluster: str = option(
        "paper", "what tests and intervals resample as a whole", choices=["paper", "query"]
    )
    seed: int = option(1, "seed of tests and intervals")
    claims: Optional[Path] = option(
        None, "file of claims to be tested, such as eval/claims.yaml", type=Path
    )
    paper_tables: Optional[Path] = option(
        None, "file of tables of papers to be set beside ours", type=Path
    )
    expected: bool = option(False, "compare with the expected scores; fail where they differ")
    replace: bool = option(False, "write anew where an older report of the place exists")
    configs: Optional[Path] = option(
        None,
        "folder with pretrain/configs and finetune/configs; none: two folders above ROWS",
        type=Path,
    )

    def __post_init__(self) -> None:
        if self.expected and self.split != "test":
            raise ConfigError(
                f"--expected needs --split test, found {self.split}: expected scores are of test"
            )


def run(config: Config) -> None:
    """Write the report and print its text; then the comparison with what was expected.

    :raises RunError: a run is malformed, or names unknown queries or papers.
    :raises ConfigError: a row is wrong, or no row was run.
    :raises MpbertError: with ``--expected``, a score is missing or differs.
    """
    plan = _plan(config)
    variants = plan.variants()
    if not variants:
        raise ConfigError(
            f"{config.rows}: found no row of task {config.task} for {config.corpus.name}"
        )
    runs = _runs(plan, variants)
    chosen = tuned_file(config.tuned, config.corpus.name)
    files = filter(None, [chosen, config.claims, config.paper_tables])
    inputs = [config.corpus, *row_files(config.rows), *files, *runs]
    made_by = dataclasses.replace(config, expected=False, replace=False)  # what the content is of
    reused = not config.replace and is_finished(config.output, "report", made_by, inputs)
    if config.replace and config.output.exists():
        _refuse_other_output(config.output)
    if reused and not config.expected:
        print(f"{config.output} exists, reused")
        return
    check_inputs([config.corpus, *(path / f"{config.split}.run" for path in runs)])
    if reused:
        report = measure_rows(plan)
    else:
        with output_directory(config.output, "report", made_by, inputs, config.replace) as out:
            report = measure_rows(plan)
            _write(out.path, report, plan, variants)
            out.counts["rows"] = len(report.rows)
            out.counts["rows_not_run"] = len(report.not_run)
    _print(config.output)
    if config.expected:
        rows = [variant.row for variant in variants]
        _print_checks(check_scores(rows, config.corpus.name, scores_of(report)), config)


def _plan(config: Config) -> ReportPlan:
    rows, corpus = read_rows(config.rows), config.corpus
    tuned = read_tuned(tuned_file(config.tuned, corpus.name))
    configs = config.configs or configs_beside(config.rows)
    experiment = Experiment.of(rows, corpus, Layout(config.root), tuned, configs)
    return ReportPlan(
        experiment,
        config.split,
        config.task,
        config.cluster,
        config.seed,
        read_claims(config.claims, corpus.name) if config.claims else (),
        read_paper_tables(config.paper_tables, corpus.name) if config.paper_tables else (),
    )


def _runs(plan: ReportPlan, variants: list[Variant]) -> list[Path]:
    """Return the folders of all runs that are measured."""
    others = [other for variant in variants for other in plan.other_seeds(variant)]
    return [plan.experiment.runs(variant) for variant in (*variants, *others)]


def _write(directory: Path, report: Report, plan: ReportPlan, variants: list[Variant]) -> None:
    svg, png = plot_report(report, "svg"), plot_report(report, "png")
    for suffix, plots in (("svg", svg), ("png", png)):
        for name, (_, picture) in plots.items():
            (directory / f"{name}.{suffix}").write_bytes(picture)
    for suffix, text in render_report(report, dict(svg.values())).items():
        (directory / f"report.{suffix}").write_text(text, encoding="utf-8")
    _write_cost(directory, report, plan.experiment)
    run = {row.name for row in report.rows}
    curves = read_training_curves(plan.experiment, [v for v in variants if v.row.name in run])
    for suffix in ("svg", "png") if curves else ():
        (directory / f"training.{suffix}").write_bytes(plot_training(curves, suffix))


def _write_cost(directory: Path, report: Report, experiment: Experiment) -> None:
    """Write what the rows cost, if make-rows made any of them."""
    scores = scores_of(report)
    pairs = [(row, cost_with_inputs(experiment, row.name)) for row in report.rows]
    known = [(row, cost) for row, cost in pairs if cost]
    if not known:
        return
    titles = [row.title for row, _ in known]
    for suffix, text in render_cost([(row.title, cost) for row, cost in pairs]).items():
        (directory / f"cost.{suffix}").write_text(text, encoding="utf-8")
    for suffix in ("svg", "png"):
        picture = plot_cost(
            titles,
            [cost.seconds for _, cost in known],
            [scores[row.name]["MAP@10 P>=1"] for row, _ in known],
            suffix,
        )
        (directory / f"cost.{suffix}").write_bytes(picture)


def _refuse_other_output(output: Path) -> None:
    command = read_manifest(output).get("command")
    if command != "report":
        raise ConfigError(
            f"{output}: was made by mpbert {command}; --replace replaces reports only"
        )


def _print(output: Path) -> None:
    print((output / "report.txt").read_text(encoding="utf-8"), end="")
    if (output / "cost.txt").exists():
        print("\n" + (output / "cost.txt").read_text(encoding="utf-8"), end="")


def _print_checks(checks: list[ScoreCheck], config: Config) -> None:
    if not checks:
        raise ConfigError(
            f"{config.rows}: no row holds expected scores of {config.corpus.name}; "
            f"add 'expected:' to one, or leave out --expected"
        )
    print("\nExpected scores: OK within the tolerance, CLOSE within twice, else DIFFERENT")
    for check in checks:
        found = "not run" if np.isnan(check.found) else f"{check.found:.4f}"
        print(
            f"{check.verdict:<10}{check.row:<30}{check.column:<18}"
            f"found {found:<8} expected {check.expected:.4f} ± {check.tolerance:.4f}"
        )
    different = sum(check.verdict == "DIFFERENT" for check in checks)
    if different:
        raise MpbertError(
            f"{different} of {len(checks)} scores differ from those expected; find out why, "
            f"or correct {config.rows} and note it in CHANGELOG.md"
        )
