"""report: corpus store, conditions and their runs -> one report in five formats, with plots.

The files ``report.*`` have the same bytes whenever the runs are the same. What the rows cost
differs from time to time, so it stands apart, in ``cost.*``; so do the losses of the trainings that
were done here, in ``training.*``.
"""

import dataclasses
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import numpy as np
from scipy import sparse

from mpbert.commands.make_rows import cost_with_inputs, outdated
from mpbert.corpus.cocitation import cocitation_counts
from mpbert.corpus.queries import TASKS, qrels_name
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import Qrels, matrices_of_run, read_qrels, read_run
from mpbert.evaluation.evaluate import (
    Judged,
    citing_papers,
    judge,
    num_gold,
    times_citing_paper_ranked,
)
from mpbert.evaluation.plots import plot_cost, plot_report, plot_training
from mpbert.evaluation.render import render_report
from mpbert.evaluation.report import DEPTH, MeasuredRow, Queries, Report, Setting, build_report
from mpbert.evaluation.self_citation import author_matrix, self_citation, shares_author
from mpbert.evaluation.subsets import mean_pair_frequency
from mpbert.evaluation.training_curves import read_training_curves
from mpbert.experiments.cost import render_cost
from mpbert.experiments.expected import Comparison, compare
from mpbert.experiments.rows import (
    Row,
    choose_rows,
    effective_settings,
    read_rows,
)
from mpbert.experiments.seeds import takes_seeds, with_seed
from mpbert.experiments.steps import setting_words
from mpbert.experiments.tuning import Budget, Settings, Tuned, read_tuned, tuned_file
from mpbert.foundation.config import from_settings, option, positional
from mpbert.foundation.errors import ConfigError, MpbertError, RunError
from mpbert.foundation.manifest import (
    check_inputs,
    fingerprint,
    is_finished,
    output_directory,
    read_manifest,
)
from mpbert.foundation.progress import progress
from mpbert.methods.reranking import RERANKERS

logger = logging.getLogger(__name__)
_CUTOFFS = (*range(1, 10), *range(10, 101, 10))  # ranks of self-citation


@dataclass(frozen=True)
class Config:
    """Measure every condition that was run; write report.{txt,md,tex,html,json} and plots."""

    corpus: Path = positional("corpus", "corpus store the runs were made from")
    output: Path = positional("output", "directory to write")
    rows: Path = option(Path("eval/rows"), "directory of NAME.yaml, one row of the tables each")
    tuned: Optional[Path] = option(
        None, "what mpbert tune chose; where it exists, eval/tuned/CORPUS.yaml", type=Path
    )
    task: str = option("local", "rows of contexts, or of whole papers (global)", choices=TASKS)
    split: str = option("test", "split whose queries are measured", choices=["test", "valid"])
    cluster: str = option(
        "paper", "what tests and intervals resample as a whole", choices=["paper", "query"]
    )
    seed: int = option(1, "seed of tests and intervals")
    expected: bool = option(False, "compare with the expected scores; fail where they differ")
    replace: bool = option(False, "write anew where an older report of the place exists")

    def __post_init__(self) -> None:
        if self.expected and self.split != "test":
            raise ConfigError(
                f"--expected needs --split test, found {self.split}: expected scores are of test"
            )


def run(config: Config) -> None:
    """Write the report and print its text; then the comparison with what was expected.

    :raises RunError: a run is malformed, or names unknown queries or papers.
    :raises ConfigError: a condition is wrong, or no condition was run.
    :raises MpbertError: with ``--expected``, a score is missing or differs.
    """
    corpus = config.corpus.name
    everything = choose_rows(read_rows(config.rows), corpus, [])
    conditions = [condition for condition in everything if condition.task == config.task]
    if not conditions:
        raise ConfigError(f"{config.rows}: found no row of task {config.task} for {corpus}")
    chosen = tuned_file(config.tuned, corpus)
    tuned = read_tuned(chosen)
    rows = [_planned(condition, tuned, config) for condition in conditions]
    pairs = list(zip(conditions, rows, strict=True))
    directories = {c.name: c.run_directory(corpus, row.settings) for c, row in pairs}
    seeds = {
        c.name: [c.run_directory(corpus, s) for s in _other_seeds(c, config, row.settings)]
        for c, row in pairs
    }
    files = [*sorted(config.rows.glob("*.yaml")), *filter(None, [chosen])]
    runs = [*directories.values(), *(path for paths in seeds.values() for path in paths)]
    inputs = [config.corpus, *files, *runs]
    made_by = dataclasses.replace(config, expected=False, replace=False)  # what the content is of
    reused = not config.replace and is_finished(config.output, "report", made_by, inputs)
    if config.replace and config.output.exists():
        _refuse_other_output(config.output)
    if reused and not config.expected:
        print(f"{config.output} exists, reused")
        return
    check_inputs([config.corpus, *(path / f"{config.split}.run" for path in runs)])
    if reused:
        report = _measure(config, rows, directories, seeds, tuned.budget)
    else:
        with output_directory(config.output, "report", made_by, inputs, config.replace) as out:
            report = _measure(config, rows, directories, seeds, tuned.budget)
            _write(out.path, report)
            _write_cost(out.path, report, everything, tuned)
            _write_training(out.path, report, directories)
            out.counts["rows"] = len(report.rows)
            out.counts["rows_not_run"] = len(report.not_run)
    print((config.output / "report.txt").read_text(encoding="utf-8"), end="")
    if (config.output / "cost.txt").exists():
        print("\n" + (config.output / "cost.txt").read_text(encoding="utf-8"), end="")
    if config.expected:
        _print_comparisons(compare(conditions, corpus, _scores(report)), config)


def _other_seeds(condition: Row, config: Config, settings: Settings) -> list[Settings]:
    """Return the settings of seeds 2, 3 and so on with which make-rows made runs."""
    found: list[Settings] = []
    while takes_seeds(condition):
        seeded = with_seed(settings, len(found) + 2)
        directory = condition.run_directory(config.corpus.name, seeded)
        if not (directory / f"{config.split}.run").exists():
            break
        found.append(seeded)
    return found


def _planned(condition: Row, tuned: Tuned, config: Config) -> MeasuredRow:
    settings = effective_settings(condition, tuned.settings(condition.name))
    problem = outdated(condition, config.corpus, settings)
    remarks = [f"the settings of this report are not those of its run; {problem}"] * bool(problem)
    for seed, seeded in enumerate(_other_seeds(condition, config, settings), start=2):
        if problem := outdated(condition, config.corpus, seeded):
            remarks.append(f"seed {seed}: {problem}")
    if _learns_from(condition, settings) == config.split:
        remarks.append("learnt from these very queries, so it cannot be compared with the others")
    return MeasuredRow(
        condition.name,
        condition.title,
        condition.note,
        remarks=tuple(remarks),
        settings=settings,
        tuned=tuned.rows.get(condition.name),
        published=condition.published,
    )


def _learns_from(condition: Row, settings: Settings) -> str:
    if condition.method not in RERANKERS.names():
        return ""
    words = setting_words(settings)
    return from_settings(RERANKERS[condition.method], words, condition.method).learns_from


def _measure(
    config: Config,
    rows: list[MeasuredRow],
    directories: dict[str, Path],
    seeds: dict[str, list[Path]],
    budget: Budget | None,
) -> Report:
    store = CorpusStore(config.corpus)
    qrels = read_qrels(config.corpus / qrels_name(config.task, config.split))
    paths = [directories[row.name] / f"{config.split}.run" for row in rows]
    authors = author_matrix(store.authors)
    measured = [
        _measured(row, path, seeds[row.name], store, qrels, config, authors)
        for row, path in progress(list(zip(rows, paths, strict=True)), "report", "row")
    ]
    if all(row.judged is None for row in measured):
        raise ConfigError(
            f"{config.rows}: none of {len(rows)} conditions was run on {config.corpus.name} "
            f"(looked for {paths[0]} and the like); run mpbert make-rows first"
        )
    setting = Setting(
        config.corpus.name,
        config.split,
        store.num_papers,
        fingerprint(config.corpus),
        config.cluster,
        config.seed,
        budget,
        config.task,
    )
    return build_report(setting, _queries(config, store, qrels), measured)


def _measured(
    row: MeasuredRow,
    path: Path,
    seeds: list[Path],
    store: CorpusStore,
    qrels: Qrels,
    config: Config,
    authors: sparse.csr_array,
) -> MeasuredRow:
    if not path.exists():
        return row
    ranked, depth = read_run(path), DEPTH[config.task]
    judged = judge(ranked, qrels, depth, str(path), pool=store.paper_ids)
    remarks = list(row.remarks)
    remarks += _missing(judged)
    shortest = min(judged.depths[judged.depths > 0], default=0)
    if 0 < shortest < min(depth, store.num_papers - 1):
        remarks.append(f"its shortest list has {shortest} papers, so Recall@k is flat beyond")
    if times := times_citing_paper_ranked(ranked, config.task):
        remarks.append(f"ranks the citing paper itself for {times:,} queries")
    others = [
        judge(read_run(other), qrels, depth, str(other), pool=store.paper_ids)
        for other in (directory / f"{config.split}.run" for directory in seeds)
    ]
    for seed, other in enumerate(others, start=2):
        remarks += [f"seed {seed}: {remark}" for remark in _missing(other)]
    row = dataclasses.replace(row, judged=judged, other_seeds=others, remarks=tuple(remarks))
    if not authors.nnz:
        return row
    queries = store.queries(config.split, config.task)
    rows, _ = matrices_of_run(ranked, queries.query_ids, store.paper_ids, str(path))
    shared = shares_author(authors, queries.citing_rows, rows[:, : _CUTOFFS[-1]])
    return dataclasses.replace(row, self_citation=self_citation(shared, _CUTOFFS))


def _missing(judged: Judged) -> list[str]:
    """Return a remark where a run lacks queries."""
    missing = judged.num_missing
    return [f"{missing:,} queries are missing in its run and count 0"] * bool(missing)


def _queries(config: Config, store: CorpusStore, qrels: Qrels) -> Queries:
    citing_ids = citing_papers(qrels.query_ids, config.task)
    unknown = [p for p in (*citing_ids, *qrels.paper_ids) if p not in store.row_of]
    if unknown:
        raise RunError(
            f"{config.corpus / qrels_name(config.task, config.split)}: names the paper "
            f"{unknown[0]!r}, which the corpus lacks; expected queries like 'paper#12', build the "
            f"corpus again"
        )
    train = store.contexts("train")
    counts = cocitation_counts(train.cited_offsets, train.cited_rows, store.num_papers)
    gold_rows = np.array([store.row_of[paper] for paper in qrels.paper_ids])[qrels.codes]
    return Queries(
        num_gold(qrels),
        citing_ids,
        store.years[[store.row_of[paper] for paper in citing_ids]],
        mean_pair_frequency(qrels.offsets, gold_rows, counts),
    )


def _write(directory: Path, report: Report) -> None:
    svg, png = plot_report(report, "svg"), plot_report(report, "png")
    for suffix, plots in (("svg", svg), ("png", png)):
        for name, (_, picture) in plots.items():
            (directory / f"{name}.{suffix}").write_bytes(picture)
    for suffix, text in render_report(report, dict(svg.values())).items():
        (directory / f"report.{suffix}").write_text(text, encoding="utf-8")


def _write_cost(directory: Path, report: Report, conditions: list[Row], tuned: Tuned) -> None:
    """Write what the rows cost, if make-rows made any of them."""
    corpus, scores = report.setting.corpus, _scores(report)
    costs = [cost_with_inputs(row.name, conditions, corpus, tuned) for row in report.rows]
    pairs = list(zip(report.rows, costs, strict=True))
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


def _write_training(directory: Path, report: Report, directories: dict[str, Path]) -> None:
    """Draw the losses of the trainings behind the rows, if any left some."""
    rows = [row.name for row in report.rows]
    names = [*rows, *(directories[row].name for row in rows)]
    curves = read_training_curves(report.setting.corpus, names, Path())
    for suffix in ("svg", "png") if curves else ():
        (directory / f"training.{suffix}").write_bytes(plot_training(curves, suffix))


def _refuse_other_output(output: Path) -> None:
    command = read_manifest(output).get("command")
    if command != "report":
        raise ConfigError(
            f"{output}: was made by mpbert {command}; --replace replaces reports only"
        )


def _scores(report: Report) -> dict[str, dict[str, float]]:
    return {
        row.name: {
            column.name: float(table.means[r, j])
            for table in report.tables
            for j, column in enumerate(table.columns)
        }
        for r, row in enumerate(report.rows)
    }


def _print_comparisons(comparisons: list[Comparison], config: Config) -> None:
    if not comparisons:
        raise ConfigError(
            f"{config.rows}: no condition holds expected scores of {config.corpus.name}; "
            f"add 'expected:' to one, or leave out --expected"
        )
    print("\nExpected scores: OK within the tolerance, CLOSE within twice, else DIFFERENT")
    for c in comparisons:
        found = "not run" if np.isnan(c.found) else f"{c.found:.4f}"
        print(
            f"{c.verdict:<10}{c.condition:<30}{c.column:<18}"
            f"found {found:<8} expected {c.expected:.4f} ± {c.tolerance:.4f}"
        )
    different = sum(c.verdict == "DIFFERENT" for c in comparisons)
    if different:
        raise MpbertError(
            f"{different} of {len(comparisons)} scores differ from those expected; find out why, "
            f"or correct {config.rows} and note it in CHANGELOG.md"
        )
