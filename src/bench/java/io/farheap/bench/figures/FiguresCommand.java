package io.farheap.bench.figures;

import io.farheap.command.Subcommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
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
                    + "older than 90 days, or than the code that it measures, is marked as old. All take some three "
                    + "hours."
        })
public final class FiguresCommand implements Subcommand, Callable<Integer> {

    /** The property in which the launcher passes the root of the checkout. */
    private static final String ROOT = "farheap.root";

    private static final double MOST_LOAD_OF_CORE = 0.5;

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

    @Option(names = "--list", description = "print the figures with their commands, and when they were measured")
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

    /** For a checkout that the launcher names; without a launcher it is the current directory. */
    public FiguresCommand() {
        this(Path.of(System.getProperty(ROOT, "")));
    }

    FiguresCommand(Path root) {
        this.root = root.toAbsolutePath();
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        FigureList figures = FigureList.read(root);
        if (list) {
            print(figures, spec.commandLine().getOut());
            return 0;
        }
        if (render && (quick || !names.isEmpty())) {
            throw new IllegalArgumentException("--render: it writes all stored figures into the pages; use it without "
                    + (quick ? "--quick" : "NAME"));
        }
        PrintWriter messages = spec.commandLine().getErr();
        List<String> unknown = new ArrayList<>(new LinkedHashSet<>(names));
        List<FigureSpec> chosen = new ArrayList<>();
        if (!render) {
            for (FigureSpec figure : figures.all()) {
                if (names.isEmpty() || names.contains(figure.name())) {
                    chosen.add(figure);
                    unknown.remove(figure.name());
                }
            }
        }
        for (String name : unknown) {
            messages.println("farheap: " + name + ": there is no such figure; there are " + figures.names());
        }
        messages.flush();
        int failed = unknown.size();
        if (!chosen.isEmpty()) {
            refuseIfBusy();
            GitTree git = new GitTree(root);
            // Now, and not before each run: the results of earlier runs change the checkout.
            String commit = git.commit();
            boolean dirty = git.dirty();
            failed +=
                    new FigureRuns(root, quick, messages).run(chosen, commit, dirty, MachineRecord.read(root, !quick));
        }
        if (!quick && (render || !chosen.isEmpty())) {
            failed += publish(figures, messages);
        }
        return failed == 0 ? 0 : 1;
    }

    private void refuseIfBusy() throws IOException {
        int cores = Runtime.getRuntime().availableProcessors();
        double average = MachineLoad.average();
        if (!busy && average > MOST_LOAD_OF_CORE * cores) {
            throw new IllegalArgumentException("the load average is " + average + ", and a figure needs a machine with "
                    + "at most " + MOST_LOAD_OF_CORE * cores + " (" + cores
                    + (cores == 1 ? " core" : " cores")
                    + "); wait until other work has ended, or add --busy");
        }
    }

    /** @return how many places of pages could not be rendered */
    private int publish(FigureList figures, PrintWriter messages) throws IOException, InterruptedException {
        int outdated = OutdatedFigures.mark(root, figures);
        if (outdated > 0) {
            messages.println("marked as old, since later commits changed what they measure: " + outdated);
        }
        AtomicInteger failed = new AtomicInteger();
        List<Path> changed = new FigurePages(root, figures, LocalDate.now(ZoneOffset.UTC)).render(complaint -> {
            failed.incrementAndGet();
            messages.println("farheap: " + complaint);
        });
        changed.forEach(page -> messages.println("written: " + page));
        messages.flush();
        return failed.get();
    }

    private void print(FigureList figures, PrintWriter out) throws IOException {
        for (FigureSpec figure : figures.all()) {
            FigureFile stored = FigureFile.read(root, figure.name());
            out.printf(
                    "%-20s%s; at most %d s%n    %s%n",
                    figure.name(),
                    stored == null ? "not measured" : "measured on " + stored.date(),
                    figure.limit().toSeconds(),
                    figure.typed(quick));
        }
        out.flush();
    }
}
