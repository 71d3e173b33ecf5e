"""``report``: corpus store, rows and their runs -> one report in five formats, with plots.

The files ``report.*`` have the same bytes whenever the runs are the same. With ``--kept`` what is
needed of each run is written to a file, and rows whose runs are not here are taken from there.
What the rows cost differs from time to time, so it stands apart, in ``cost.*``; so do the losses of
the trainings that were done here, in ``training.*``.
"""

import dataclasses
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from mpbert.corpus.tasks import COUNTED, TASKS
from mpbert.experiments.options import configs_option, tuned_option
from mpbert.foundation.config import option, positional
from mpbert.foundation.errors import ConfigError, MpbertError
from mpbert.foundation.manifest import check_inputs, is_finished, output_directory, read_manifest
from mpbert.retrieval.options import pool_option

if TYPE_CHECKING:  # what --help need not wait for
    from mpbert.evaluation.report import Report
    from mpbert.experiments.expected import ReportComparison
    from mpbert.experiments.experiment import Variant
    from mpbert.experiments.report_plan import ReportPlan

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Config:
    """Measure every row that was run; write report.{txt,md,tex,html,json} and plots."""

    corpus: Path = positional("corpus", "corpus store the runs were made from")
    rows: Path = positional("rows", "folder of NAME.yaml, one row each, or a file of several rows")
    root: Path = positional("root", "folder of all outputs, as of make-rows")
    output: Path = positional("output", "directory to write")
    tuned: Optional[Path] = tuned_option()
    task: str = option("local", "rows of contexts, or of whole papers (global)", choices=TASKS)
    split: str = option("test", "split whose queries are measured", choices=["test", "valid"])
    queries: str = option(
        "distinct", "contexts of the same words and citations count once, or all", choices=COUNTED
    )
    cluster: str = option(
        "paper", "what tests and intervals resample as a whole", choices=["paper", "query"]
    )
    pool: str = pool_option()
    seed: int = option(1, "seed of tests and intervals")
    claims: Optional[Path] = option(None, "file of claims to test, such as eval/claims.yaml")
    paper_tables: Optional[Path] = option(
        None, "tables of papers to set beside ours, such as eval/paper_tables.yaml"
    )
    kept: Optional[Path] = option(
        None, "file of results: rows whose runs are here are written to it, others are read from it"
    )
    expected: Optional[Path] = option(
        None, "report.json of an earlier report; fail where a score is far from it"
    )
    replace: bool = option(False, "replace an older report at OUTPUT")
    configs: Optional[Path] = configs_option()


def run(config: Config) -> None:
    """Write the report and print its text; then the comparison with an earlier one.

    :raises RunError: a run is malformed, or names unknown queries or papers, or a kept result is of
        other queries.
    :raises ConfigError: a row is wrong, or no row was run.
    :raises MpbertError: with ``--expected``, a row is missing or a score differs.
    """
    from mpbert.experiments.expected import compare_reports, read_report
    from mpbert.experiments.measuring import measure_rows
    from mpbert.experiments.row_files import row_files
    from mpbert.experiments.tuning import tuned_file

    expected = read_report(config.expected) if config.expected else None
    plan = _plan(config)
    variants = plan.variants()
    if not variants:
        raise ConfigError(
            f"{config.rows}: found no row of task {config.task} for {config.corpus.name}"
        )
    runs, given, kept = _runs(plan, variants)
    for path in given:
        if not path.is_file():
            logger.warning("%s: no such file; the row that names it is not run", path)
    chosen = tuned_file(config.tuned, config.corpus.name)
    files = filter(None, [chosen, config.claims, config.paper_tables])
    inputs = [config.corpus, *row_files(config.rows), *files, *runs, *given, *kept]
    made_by = dataclasses.replace(config, expected=None, replace=False)  # what the content is of
    reused = not config.replace and is_finished(config.output, "report", made_by, inputs)
    if config.replace and config.output.exists():
        _refuse_other_output(config.output)
    if reused and not expected:
        print(f"{config.output} exists, reused")
        return
    check_inputs([config.corpus, *(path / f"{config.split}.run" for path in runs), *given])
    if not reused:
        with output_directory(config.output, "report", made_by, inputs, config.replace) as out:
            report = measure_rows(plan)
            _write(out.path, report, plan, variants)
            out.counts["rows"] = len(report.rows)
            out.counts["rows_not_run"] = len(report.not_run)
    _print(config.output)
    if expected:
        found = read_report(config.output / "report.json")
        _print_comparison(compare_reports(found, expected, str(config.expected)), config)


def _plan(config: Config) -> "ReportPlan":
    from mpbert.experiments.claim_files import read_claims
    from mpbert.experiments.experiment import Experiment
    from mpbert.experiments.kept import KeptRuns
    from mpbert.experiments.layout import Layout
    from mpbert.experiments.paper_table_files import read_paper_tables
    from mpbert.experiments.report_plan import ReportPlan
    from mpbert.experiments.row_files import configs_beside, read_rows
    from mpbert.experiments.tuning import read_tuned, tuned_file

    rows, corpus = read_rows(config.rows), config.corpus
    tuned = read_tuned(tuned_file(config.tuned, corpus.name))
    configs = config.configs or configs_beside(config.rows)
    experiment = Experiment.of(rows, corpus, Layout(config.root), tuned, configs, config.pool)
    return ReportPlan(
        experiment,
        config.split,
        config.task,
        config.cluster,
        config.seed,
        config.queries,
        KeptRuns(config.kept) if config.kept else None,
        read_claims(config.claims, corpus.name) if config.claims else (),
        read_paper_tables(config.paper_tables, corpus.name) if config.paper_tables else (),
    )


def _runs(
    plan: "ReportPlan", variants: "list[Variant]"
) -> tuple[list[Path], list[Path], list[Path]]:
    """Return what is measured: folders of runs, runs of other systems, and the kept results."""
    others = [other for variant in variants for other in plan.other_seeds(variant)]
    here = [each for each in (*variants, *others) if not plan.is_kept(each)]
    kept = [plan.kept.path] if plan.kept and len(here) < len(variants) + len(others) else []
    runs = [plan.experiment.runs(each) for each in here if not each.row.run]
    given = [plan.run_of(each) for each in here if each.row.run]
    return runs, given, kept


def _write(
    directory: Path, report: "Report", plan: "ReportPlan", variants: "list[Variant]"
) -> None:
    from mpbert.evaluation.plots import (
        plot_report,  # matplotlib, half a second
        plot_training,
    )
    from mpbert.evaluation.render import render_report
    from mpbert.experiments.training_curves import read_training_curves

    svg, png = plot_report(report, "svg"), plot_report(report, "png")
    for suffix, plots in (("svg", svg), ("png", png)):
        for name, (_, picture) in plots.items():
            (directory / f"{name}.{suffix}").write_bytes(picture)
    for suffix, text in render_report(report, dict(svg.values())).items():
        (directory / f"report.{suffix}").write_text(text, encoding="utf-8")
    _write_cost(directory, report, plan)
    run = {row.name for row in report.rows}
    curves = read_training_curves(plan.experiment, [v for v in variants if v.row.name in run])
    for suffix in ("svg", "png") if curves else ():
        (directory / f"training.{suffix}").write_bytes(plot_training(curves, suffix))


def _write_cost(directory: Path, report: "Report", plan: "ReportPlan") -> None:
    """Write what the rows cost, if make-rows made any of them."""
    from mpbert.evaluation.plots import plot_cost
    from mpbert.experiments.cost import render_cost
    from mpbert.experiments.measuring import scores_of

    scores = scores_of(report)
    pairs = [(row, plan.cost(row.name)) for row in report.rows]
    known = [(row, cost) for row, cost in pairs if cost]
    if not known:
        return
    titles = [row.full_title for row, _ in known]
    for suffix, text in render_cost([(r.name, r.full_title, cost) for r, cost in pairs]).items():
        (directory / f"cost.{suffix}").write_text(text, encoding="utf-8")
    for suffix in ("svg", "png"):
        picture = plot_cost(
            titles,
            [cost.cpu_seconds for _, cost in known],
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


def _print_comparison(comparison: "ReportComparison", config: Config) -> None:
    print(
        f"\nBeside {config.expected}: OK within the tolerance, CLOSE within twice, else DIFFERENT"
    )
    print("\n".join(comparison.lines()))
    if comparison.num_different:
        raise MpbertError(
            f"{comparison.num_different} scores or rows differ from {config.expected}; find out "
            f"why, or put {config.output / 'report.json'} in its place and note it in CHANGELOG.md"
        )
