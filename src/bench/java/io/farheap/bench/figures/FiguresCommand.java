package io.farheap.bench.figures;

import io.farheap.command.Subcommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code farheap figures}: measures the published figures and writes them into the pages. Exit code 1: one failed. */
@Command(
        name = "figures",
        mixinStandardHelpOptions = true,
        description = {
            "Measure the figures of docs/figures/figures.json, one after the other, and write them into the pages of "
                    + "this checkout.",
            "Each result is stored in docs/figures/json with its command, date, commit and machine. A figure that is "
                    + "older than 90 days, or than the code that it measures, is marked as old. All take some four "
                    + "hours.",
            "If a benchmark fails, or if you end this command by Ctrl-C, the earlier figure stays, and the results "
                    + "that are already stored stay, too: --render writes them into the pages."
        })
public final class FiguresCommand implements Subcommand, Callable<Integer> {

    /** The property in which the launcher passes the root of the checkout. */
    private static final String ROOT = "farheap.root";

    /** How often the load is measured at most: this JVM's own start may be in the first sample. */
    private static final int LOOKS = 4;

    private static final int SECONDS_OF_MINUTE = 60;

    @Parameters(
            paramLabel = "NAME",
            arity = "0..*",
            description = "figures to measure, as --list prints them (default: all)")
    private List<String> names = List.of();

    @Option(
            names = "--quick",
            description = "measure little, in some fifteen minutes for all: results are in target/figures, and in no "
                    + "page")
    private boolean quick;

    @Option(
            names = "--list",
            description = "measure nothing: print the figures with their commands, when they were measured, and which "
                    + "are old; with --quick the commands of quick runs")
    private boolean list;

    @Option(
            names = "--render",
            description = "measure nothing: mark the stored figures that are old, and write all into the pages")
    private boolean render;

    @Option(names = "--busy", description = "measure although the machine is busy")
    private boolean busy;

    @Spec
    private CommandSpec spec;

    private final Path root;
    private final Clock clock;
    private final MachineLoad.Probe load;

    /** For a checkout that the launcher names; without a launcher it is the current directory. */
    public FiguresCommand() {
        this(Path.of(System.getProperty(ROOT, "")), Clock.systemUTC(), MachineLoad::now);
    }

    FiguresCommand(Path root, Clock clock, MachineLoad.Probe load) {
        this.root = root.toAbsolutePath();
        this.clock = clock;
        this.load = load;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        FigureList figures = FigureList.read(root);
        PrintWriter messages = spec.commandLine().getErr();
        List<String> unknown = new ArrayList<>(new LinkedHashSet<>(names));
        List<FigureSpec> chosen = new ArrayList<>();
        for (FigureSpec figure : figures.all()) {
            if (names.isEmpty() || names.contains(figure.name())) {
                chosen.add(figure);
                unknown.remove(figure.name());
            }
        }
        if (render && (quick || list || !names.isEmpty())) {
            throw new IllegalArgumentException("--render: it writes all stored figures into the pages; use it without "
                    + (quick ? "--quick" : list ? "--list" : "NAME"));
        }
        for (String name : unknown) {
            messages.println("farheap: " + name + ": there is no such figure; there are " + figures.names());
        }
        messages.flush();
        int failed = unknown.size();
        if (list) {
            print(chosen, spec.commandLine().getOut());
            return failed == 0 ? 0 : 1;
        }
        if (!render && !chosen.isEmpty()) {
            failed += measure(chosen, messages);
        }
        if (!quick && !chosen.isEmpty()) {
            failed += publish(figures, messages);
        }
        return failed == 0 ? 0 : 1;
    }

    /** @return how many runs failed */
    private int measure(List<FigureSpec> chosen, PrintWriter messages) throws IOException, InterruptedException {
        refuseIfBusy();
        GitTree git = new GitTree(root);
        // Now, and not before each run: the results of earlier runs change the checkout.
        String commit = git.commit();
        boolean dirty = git.dirty();
        if (!quick) {
            messages.println("measuring takes some " + minutes(expected(chosen)) + ", after fio has read the disk for "
                    + "some ten seconds");
            messages.flush();
        }
        return new FigureRuns(root, quick, messages).run(chosen, commit, dirty, MachineRecord.read(root, !quick));
    }

    private void refuseIfBusy() throws IOException, InterruptedException {
        if (busy) {
            return;
        }
        int cores = Runtime.getRuntime().availableProcessors();
        MachineLoad now = load.now();
        for (int look = 1; look < LOOKS && now.busy(cores); look++) {
            now = load.now();
        }
        if (now.busy(cores)) {
            throw new IllegalArgumentException(
                    now.tooMuch(cores) + "; wait until the other work has ended, or add --busy");
        }
    }

    /** @return how many places of pages could not be rendered */
    private int publish(FigureList figures, PrintWriter messages) throws IOException, InterruptedException {
        int outdated = OutdatedFigures.mark(root, figures);
        if (outdated > 0) {
            messages.println("marked as old, since later commits changed what they measure: " + outdated);
        }
        AtomicInteger failed = new AtomicInteger();
        List<Path> changed = new FigurePages(root, figures).render(today(), complaint -> {
            failed.incrementAndGet();
            messages.println("farheap: " + complaint);
        });
        changed.forEach(page -> messages.println("written: " + page));
        messages.flush();
        return failed.get();
    }

    private LocalDate today() {
        return LocalDate.ofInstant(clock.instant(), ZoneOffset.UTC);
    }

    private void print(List<FigureSpec> chosen, PrintWriter out) throws IOException, InterruptedException {
        GitTree git = new GitTree(root);
        for (FigureSpec figure : chosen) {
            out.printf(
                    "%-20s%s; at most %d s%n    %s%n",
                    figure.name(),
                    quick ? "quick" : "some " + minutes(figure.expected()),
                    figure.limit(quick).toSeconds(),
                    figure.typed(quick));
            for (String state : states(git, figure)) {
                out.println("    " + state);
            }
        }
        if (!quick && chosen.size() > 1) {
            out.println("all of them take some " + minutes(expected(chosen)));
        }
        out.flush();
    }

    private static Duration expected(List<FigureSpec> figures) {
        return figures.stream().map(FigureSpec::expected).reduce(Duration.ZERO, Duration::plus);
    }

    private static String minutes(Duration time) {
        return Math.ceilDiv(time.toSeconds(), SECONDS_OF_MINUTE) + " min";
    }

    /** When the figure was measured, and the reasons for which it is not what a run would measure today. */
    private List<String> states(GitTree git, FigureSpec figure) throws IOException, InterruptedException {
        try {
            FigureFile stored = FigureFile.read(root, figure.name());
            if (stored == null) {
                return List.of("not measured");
            }
            GitTree.Commit later = git.changed(stored.commit(), figure.packages());
            if (later != null) {
                // Of this object alone: a list changes no file.
                stored.markOutdated(later);
            }
            List<String> states = new ArrayList<>();
            states.add("measured on " + stored.date());
            states.addAll(FigureCaption.marks(stored, today()));
            if (later != null) {
                states.add("The latest change is commit " + FigureCaption.shorten(later.hash()) + " of " + later.date()
                        + ".");
            }
            return states;
        } catch (IllegalArgumentException e) {
            return List.of("its stored figure is wrong: " + e.getMessage());
        }
    }
}
